"""What `npu-kb collect` did, and how far it is."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.page import Page
from npu_kb.render.text import Say, clipped

_TEXTS = {
    "ask": {
        "en": "npu-kb: run read-only commands, read the logs of CANN and write {path} (redacted)?",
        "zh": "npu-kb：将执行只读命令、读取 CANN 日志，并写入 {path}（已脱敏），是否继续？",
    },
    "kept": {
        "en": "{path}: {size}, redacted; {commands:command output}, {logs:log}, {files:file} (versions, limits).",
        "zh": "{path}：{size}，已脱敏；命令输出 {commands} 份，日志 {logs} 个，版本与系统限制文件 {files} 个。",
    },
    "cut": {
        "en": "{count} of them are not whole: failed, cut or without an answer in time.",
        "zh": "其中 {count} 份不完整：执行失败、已截取或超时。",
    },
    "folders": {"en": "Logs from: {folders}", "zh": "日志取自：{folders}"},
    "left": {"en": "Not in it", "zh": "未包含"},
    "all": {"en": "manifest.json in the archive lists everything.", "zh": "完整清单见归档内的 manifest.json。"},
    "next": {"en": "Next", "zh": "下一步"},
}
_WHY = {
    "not found": "不存在",
    "no permission": "无权限",
    "no answer": "超时无响应",
    "failed": "执行失败",
    "is no text": "不是文本",
    "no NPU was found": "未发现 NPU",
    "needs a shell": "需要 shell，不执行",
    "runs until it is stopped": "会一直运行，不执行",
    "opens the NPU and writes logs": "会占用 NPU 并产生日志，不执行",
    "runs tests on the NPU": "会在 NPU 上跑测试，不执行",
    "does more than reading": "不是只读命令，不执行",
    "changed before --since": "早于 --since 指定的时间",
    "no time was left": "超出时间上限",
    "the limit of the archive is reached (--max-mb)": "已达归档大小上限（--max-mb）",
}
"""The reasons of the manifest, which is in English."""
_MOST_REASONS = 8
say = Say(_TEXTS)
"""The texts of this command."""


def collected_text(path: Path, document: dict[str, Any], lang: str, colour: bool, width: int) -> str:
    """The archive, what is in it, what is not and why, and what to do with it."""
    page = Page(lang, colour, width)
    folders = Counter(row["name"].partition("/")[0] for row in document["taken"])
    bytes = path.stat().st_size
    size = f"{bytes / 1e6:.1f} MB" if bytes > 1e6 else f"{bytes / 1e3:.0f} kB"
    counts = {"commands": folders["commands"], "logs": folders["logs"], "files": folders["files"]}
    page.paragraph(say("kept", lang, path=path, size=size, **counts), 0, "bold")
    if names := _log_folders(document["taken"]):
        page.paragraph(say("folders", lang, folders=("、" if lang == "zh" else ", ").join(names)))
    if count := sum(row["status"] != "ok" for row in document["taken"]):
        page.paragraph(say("cut", lang, count=count))
    if document["left_out"]:
        page.blank()
        page.lines.append(page.style(say("left", lang), "bold"))
        for text in _reasons(document["left_out"], lang):
            page.paragraph(text, 2)
        page.paragraph(say("all", lang), 2, "dim")
    page.blank()
    page.lines.append(f"{page.style(say('next', lang), 'bold')}  npu-kb why {printable(str(path))}")
    return page.text()


def _log_folders(taken: list[dict[str, Any]]) -> list[str]:
    """The folder that all logs of one user, or of the driver, have in common; the logs of each stand below a label."""
    folders: dict[str, list[str]] = {}
    for row in taken:
        kind, _, name = row["name"].partition("/")
        if kind == "logs":
            folders.setdefault(name.partition("/")[0], []).append(str(Path(row["what"]).parent))
    return list(dict.fromkeys(os.path.commonpath(paths) for paths in folders.values()))


def _reasons(left_out: list[dict[str, str]], lang: str) -> list[str]:
    """What is left out, by program and reason, the most frequent first."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in left_out:
        groups.setdefault((row["what"].split()[0], row["why"]), []).append(row["what"])
    texts = []
    for (program, why), whats in sorted(groups.items(), key=lambda group: -len(group[1])):
        what = whats[0] if len(whats) == 1 else f"{program} ({len(whats)})"
        texts.append(clipped(f"{what}: {_WHY.get(why, why) if lang == 'zh' else why}", 200))
    more = [f"... (+{len(texts) - _MOST_REASONS})"] if len(texts) > _MOST_REASONS else []
    return texts[:_MOST_REASONS] + more


def progress(done: int, total: int, what: str) -> None:
    """One line of a terminal on standard error that is written over; nothing elsewhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K[{done}/{total}] {clipped(printable(what), 60)}")
        sys.stderr.flush()


def end_progress() -> None:
    """Take the line away."""
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
