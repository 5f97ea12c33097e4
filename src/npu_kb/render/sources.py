"""The folders of knowledge as terminal text."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.text import choose, filled

_TEXTS = {
    "counts": {
        "en": "{entries:entry|entries}, {signatures:one-line fault}, {codes:code}, {commands:command}",
        "zh": "条目 {entries}，单行故障 {signatures}，错误码 {codes}，命令 {commands}",
    },
    "replaces": {"en": "replaces: {ids}", "zh": "覆盖：{ids}"},
    "missing": {"en": "no such folder; what it holds is left out", "zh": "目录不存在，其内容未加载"},
    "built-in": {"en": "built-in", "zh": "内置"},
    "last": {"en": "Of two entries with one id the later folder's wins.", "zh": "条目 ID 相同时，以靠后的目录为准。"},
}


def sources_text(rows: list[dict[str, Any]], lang: str) -> str:
    """Rows of knowledge.sources.knowledge_sources, one block each."""
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        origin = _text("built-in", lang) if row["named_by"] == "built-in" else row["named_by"]
        lines.append(f"{number}  {printable(row['path'])}  ({printable(origin)})")
        lines.append("   " + (_text("counts", lang, **row) if row["found"] else _text("missing", lang)))
        if row["replaces"]:
            lines.append("   " + _text("replaces", lang, ids=", ".join(row["replaces"])))
        lines += [f"   ! {printable(problem)}" for problem in row["problems"]]
    return "\n".join([*lines, "", _text("last", lang)]) + "\n"


def _text(name: str, lang: str, **values: Any) -> str:
    return filled(" / ".join(choose(_TEXTS[name], lang)), **values)
