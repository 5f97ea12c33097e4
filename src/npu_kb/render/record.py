"""What `npu-kb record` shows, and the questions it asks."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from npu_kb.diagnosis.model import Match
from npu_kb.errors import Problem
from npu_kb.findings.duplicates import Near
from npu_kb.findings.proposals import Known, Proposal
from npu_kb.intake.clean import printable
from npu_kb.patterns import SLOT
from npu_kb.render.page import Page
from npu_kb.render.text import VERDICT_NAMES, Say, choose, clipped, colon

_SHOWN = 3
_TEXTS: dict[str, dict[str, str]] = {
    "answered": {
        "en": "Already answered by {id} ({verdict}): {title}",
        "zh": "已有条目能回答：{id}（{verdict}）：{title}",
    },
    "stands": {"en": "It stands in {file}", "zh": "所在文件：{file}"},
    "extend": {
        "en": "If it is the same cause, better extend that entry: npu-kb show {id}",
        "zh": "若为同一原因，建议直接补充该条目：npu-kb show {id}",
    },
    "extend row": {
        "en": "It is a row of one-line faults; if it is the same cause, better mend that row: npu-kb show {id}",
        "zh": "这是单行故障表中的一行；若为同一原因，建议直接修改该行：npu-kb show {id}",
    },
    "proposals": {"en": "Recognised by", "zh": "识别依据"},
    "no proposals": {
        "en": "No text of this log tells it apart; write one with --edit.",
        "zh": "日志中没有可用于识别的文本，请用 --edit 手工填写。",
    },
    "good": {"en": "good logs", "zh": "正常日志"},
    "samples": {"en": "samples of other entries", "zh": "其他条目的样例"},
    "none": {"en": "none of {total}", "zh": "{total} 条均未命中"},
    "general": {
        "en": "other faults print it too: taken as possible, a suggestion (--proves likely makes it a claim)",
        "zh": "其他故障也会打印：按“可能”记录，只作建议（--proves likely 可改为结论）",
    },
    "near": {"en": "Nearest entries", "zh": "最接近的条目"},
    "none near": {"en": "No entry comes near.", "zh": "没有接近的条目。"},
    "text": {"en": "text", "zh": "报错"},
    "meaning": {"en": "meaning", "zh": "含义"},
    "problems": {"en": "Not written; npu-kb check finds:", "zh": "未写入，检查发现："},
    "warnings": {"en": "To be judged by you:", "zh": "请自行判断："},
    "trying": {"en": "Trying patterns ...", "zh": "正在试验识别文本……"},
    "checking": {"en": "Checking it ...", "zh": "正在检查……"},
    "clean": {"en": "npu-kb check finds nothing.", "zh": "检查通过。"},
    "kept": {
        "en": "kept as finding {number}; go on with: npu-kb record --resume {number}",
        "zh": "已存为未完成记录 {number}，继续：npu-kb record --resume {number}",
    },
    "not kept": {"en": "not kept ({error})", "zh": "未能保存（{error}）"},
    "written": {"en": "Written: {path}", "zh": "已写入：{path}"},
    "filed": {"en": "Layer {layer}, topic {topic}", "zh": "层次 {layer}，主题 {topic}"},
    "guessed": {
        "en": " (guessed; if it is wrong, remove the file and say it by {options})",
        "zh": "（系推测；若不对，请删除该文件并用 {options} 指定）",
    },
    "missing": {"en": "still missing: {options}", "zh": "还缺少：{options}"},
    "both languages": {"en": "an entry is in English and in Chinese; ", "zh": "条目须中英文齐全；"},
    "a text": {"en": "a text that recognises it (--edit)", "zh": "识别文本（--edit）"},
    "needed": {
        "en": "It is needed: an entry is in English and in Chinese. Ctrl-D keeps what is said so far.",
        "zh": "此项必填：条目须中英文齐全。按 Ctrl-D 可保存已填内容，以后继续。",
    },
    "first": {"en": "why answers this log with it first.", "zh": "why 现在首先给出该条目。"},
    "behind": {"en": "why still answers this log with {id} first.", "zh": "why 仍首先给出 {id}。"},
    "unread": {
        "en": "It is read by: npu-kb why --kb {kb} LOG (for good: NPU_KB_PATH={kb}, or kb = [...] in the config file).",
        "zh": "使用时需指定目录：npu-kb why --kb {kb} 日志（长期生效：设置 NPU_KB_PATH={kb} 或写入配置文件的 kb）。",
    },
    "commit": {"en": "To propose it:", "zh": "提交："},
    "nothing": {"en": "No unfinished findings.", "zh": "没有未完成的记录。"},
    "dropped": {"en": "Dropped finding {number}.", "zh": "已删除记录 {number}。"},
    "title.en": {"en": "Title in English (the cause in one line)", "zh": "英文标题（一句话点出原因）"},
    "title.zh": {"en": "Title in Chinese", "zh": "中文标题（一句话点出原因）"},
    "cause.en": {"en": "Cause in English", "zh": "英文原因"},
    "cause.zh": {"en": "Cause in Chinese", "zh": "中文原因"},
    "fix.en": {"en": "Fix in English", "zh": "英文处理办法"},
    "fix.zh": {"en": "Fix in Chinese", "zh": "中文处理办法"},
    "fix.run": {"en": "Command that does it (Enter: none)", "zh": "对应命令（回车：无）"},
    "fix.effect": {
        "en": "Effect (read, write, restart, reset, replace)",
        "zh": "影响（read、write、restart、reset、replace）",
    },
    "symptom.en": {"en": "Symptom in English", "zh": "英文现象"},
    "symptom.zh": {"en": "Symptom in Chinese", "zh": "中文现象"},
    "verify.en": {"en": "How to see that it is fixed, in English", "zh": "英文验证方法"},
    "verify.zh": {"en": "How to see that it is fixed, in Chinese", "zh": "中文验证方法"},
    "layer": {"en": "Layer", "zh": "层次"},
    "topic": {"en": "Topic", "zh": "主题"},
    "severity": {"en": "Severity (fault, degraded, benign)", "zh": "严重程度（fault、degraded、benign）"},
    "id": {"en": "Id (file name; it stays for ever)", "zh": "条目 ID（即文件名，发布后不再更改）"},
    "which": {"en": "Which of them (such as 1 or 1,2)", "zh": "选用哪几条（如 1 或 1,2）"},
    "allowed": {"en": "It may be: {choices}", "zh": "可选：{choices}"},
    "write?": {"en": "Write it? (y/n)", "zh": "写入？(y/n)"},
    "edit?": {"en": "Edit again? (y/n)", "zh": "继续编辑？(y/n)"},
}


say = Say(_TEXTS)
"""The sentences and questions of the command."""


def answer_text(match: Match, file: Path | None, lang: str) -> str:
    """That an entry or one-line fault answers the log already, and in which file it stands."""
    entry = match.entry
    words = {"id": entry["id"], "verdict": choose(VERDICT_NAMES[match.verdict], lang)[0]}
    lines = [say("answered", lang, title=_title(entry, lang), **words)]
    lines += [say("stands", lang, file=file)] if file else []
    lines.append(say("extend row" if entry.get("signature") else "extend", lang, id=entry["id"]))
    return printable_lines(lines) + "\n"


def _title(entry: dict[str, Any], lang: str) -> str:
    """The title, with the names of captured words in their place."""
    return SLOT.sub(r"<\1>", choose(entry["title"], lang)[0])


def proposals_text(proposals: list[Proposal], known: list[Known], lang: str, width: int) -> str:
    """The proposals by number, and what each of them hits."""
    if not proposals:
        return say("no proposals", lang) + "\n"
    good = sum(other.is_good for other in known)
    page = Page(lang, False, width)
    page.lines.append(say("proposals", lang))
    mark, stop = colon(lang), "；" if lang == "zh" else "; "
    for number, proposal in enumerate(proposals, 1):
        page.paragraph(f"{number}. {' ... + '.join(proposal.texts)}", 1)
        hit = _hit(proposal.good_logs, good, lang), _hit(proposal.entries, len(known) - good, lang)
        page.paragraph(f"{say('good', lang)}{mark}{hit[0]}{stop}{say('samples', lang)}{mark}{hit[1]}", 4)
        if proposal.is_general:
            page.paragraph(say("general", lang), 4)
    return page.text() + "\n"


def _hit(names: list[str], total: int, lang: str) -> str:
    return ", ".join(names[:_SHOWN]) if names else say("none", lang, total=total)


def near_text(near: list[Near], lang: str, width: int) -> str:
    """The nearest entries with percentages and why."""
    if not near:
        return say("none near", lang) + "\n\n"
    page = Page(lang, False, width)
    page.lines.append(say("near", lang))
    for other in near:
        page.lines.append(f"{other.percent:>4}%  {say(other.why, lang)}  {other.entry['id']}")
        page.paragraph(clipped(_title(other.entry, lang), width - 7), 7)
    return page.text() + "\n"


def problems_text(problems: list[Problem], lang: str) -> str:
    """What the gates found: problems, and then what a person has to judge."""
    found = [problem for problem in problems if not problem.is_warning]
    warnings = [problem for problem in problems if problem.is_warning]
    lines = [say("problems", lang), *map(_line, found)] if found else [say("clean", lang)]
    return "\n".join([*lines, *([say("warnings", lang), *map(_line, warnings)] if warnings else [])]) + "\n"


def _line(problem: Problem) -> str:
    return "  " + printable(" ".join(str(problem).split()))


def written_text(
    path: Path, repository: Path | None, id: str, first: str | None, unread: Path | None, lang: str
) -> str:
    """Where the entry stands, what `why` answers now (`first`: id of the first claim), and how to commit it.

    `unread` is the entry's kb folder if `why` reads it only when told.
    """
    answer = [say("first", lang)] if first == id else [say("behind", lang, id=first)] if first else []
    answer += [say("unread", lang, kb=shlex.quote(str(unread)))] if unread else []
    lines = [say("written", lang, path=path), *answer]
    if repository:
        file = path.resolve().relative_to(repository.resolve())
        commands = (["switch", "-c", f"kb-{id}"], ["add", str(file)], ["commit", "-m", f"kb: add {id}"])
        lines += [
            say("commit", lang),
            *(f"  {shlex.join(['git', '-C', str(repository), *words])}" for words in commands),
        ]
    return printable_lines(lines)


def filed_text(entry: dict[str, Any], guessed: list[str], lang: str) -> str:
    """Under which layer and topic an entry stands, and which of them are only guessed."""
    filed = say("filed", lang, layer=entry["layer"], topic=entry["topic"])
    guess = say("guessed", lang, options=", ".join(f"--{name}" for name in guessed)) if guessed else ""
    return printable_lines([filed + guess])


def missing_text(paths: list[str], lang: str) -> str:
    """By which options the fields are filled that an entry lacks, and why both languages are asked for."""
    options = ", ".join(_option(path, lang) for path in paths)
    reason = say("both languages", lang) if any("." in path for path in paths) else ""
    return reason + say("missing", lang, options=options)


def _option(path: str, lang: str) -> str:
    """The option that fills a field."""
    name, _, part = path.partition(".")
    if name == "match":
        return say("a text", lang)
    return f"--{name}-zh" if part == "zh" else f"--{name}"


def findings_text(rows: Iterable[dict[str, Any]], lang: str, width: int) -> str:
    """The unfinished findings: number, time, and title or first line."""
    lines = [f"{row['id']:>4}  {row['time']}  {_name(row['document'])}" for row in rows]
    return printable_lines([clipped(line, width) for line in lines] or [say("nothing", lang)])


def _name(document: dict[str, Any]) -> str:
    title = document.get("entry", {}).get("title", {})
    return str(title.get("en") or title.get("zh") or next(iter(document.get("excerpt", [])), ""))


def printable_lines(lines: list[str]) -> str:
    """The lines without what could harm a terminal."""
    return "".join(f"{printable(line)}\n" for line in lines)
