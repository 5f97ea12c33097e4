"""Judgements on versions as terminal text and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_kb.environment.names import name_of
from npu_kb.render.page import Page
from npu_kb.render.text import choose, colon, label

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement

SCHEMA = "npu-kb/judgement/1"
_STATES: dict[str, dict[str, str]] = {
    "unsupported": {"en": "UNSUPPORTED", "zh": "不支持"},
    "unknown": {"en": "unknown", "zh": "未知"},
    "compatible": {"en": "compatible", "zh": "兼容"},
    "matched": {"en": "matched", "zh": "配套"},
}
"""The worst first."""
STATE_COLOURS = {"unsupported": "red", "unknown": "yellow", "compatible": "green", "matched": "green"}
_SUMMARIES: dict[str, dict[str, str]] = {
    "unsupported": {"en": "These versions do not all go together.", "zh": "当前版本组合不完全配套。"},
    "unknown": {
        "en": "Nothing speaks against these versions; some pairs are unknown.",
        "zh": "未发现冲突，部分组合未知。",
    },
    "compatible": {"en": "These versions go together.", "zh": "这些版本可以一起使用。"},
    "matched": {"en": "These versions are a matched set.", "zh": "这些版本完全配套。"},
    "drawback": {"en": "These versions go together, but with a drawback.", "zh": "这些版本可以一起使用，但有不足。"},
    "none": {"en": "No two versions are known that could be judged.", "zh": "没有可供判断的版本组合。"},
}
MEND = {"en": "Smallest change", "zh": "最小改动"}
_TRIED = {"en": "Ledger", "zh": "试用记录"}


def overall(judgements: list[Judgement]) -> str:
    """The worst state; `none` without judgements."""
    states = {judgement.state for judgement in judgements}
    return next((state for state in _STATES if state in states), "none")


def judgement_document(judgements: list[Judgement]) -> dict[str, Any]:
    """{"schema", "state": the worst, "mends": each once, "judgements": [{"pair", "found", "state", "reason", ...}]}"""
    mends = {item.mend["en"]: item.mend for item in judgements if item.mend}
    rows = [{**item._asdict(), "pair": list(item.pair), "found": list(item.found)} for item in judgements]
    return {"schema": SCHEMA, "state": overall(judgements), "mends": [*mends.values()], "judgements": rows}


def judgement_text(judgements: list[Judgement], lang: str, colour: bool, width: int) -> str:
    """The sum, the smallest change, then pair by pair in the order in which they were judged; lang: en, zh, both."""
    page, document = Page(lang, colour, width), judgement_document(judgements)
    for text in choose(summary(document), lang):
        page.paragraph(text, 0, "bold")
    for mend in document["mends"]:
        page.blank()
        page.lines.append(page.style(choose(MEND, lang)[0], "bold"))
        for text in choose(mend, lang):
            page.paragraph(text, 2)
    for row in document["judgements"]:
        page.blank()
        page.paragraph(f"{state_name(row, lang)}  {pair_name(row, lang)}", 0, "bold", STATE_COLOURS[row["state"]])
        for text in choose(row["reason"], lang):
            page.paragraph(text, 2)
        page.paragraph(source_text(row, lang), 2, "dim")
    return page.text()


def judgement_block(judgements: list[Judgement], lang: str, width: int) -> str:
    """The text as a block of code of Markdown, an empty line before it."""
    return f"\n```text\n{judgement_text(judgements, lang, False, width)}```\n"


def summary(document: dict[str, Any]) -> dict[str, str]:
    """What a judgement document comes to, in a sentence."""
    is_good = document["state"] in ("compatible", "matched")
    return _SUMMARIES["drawback" if is_good and document["mends"] else document["state"]]


def state_name(row: dict[str, Any], lang: str) -> str:
    """What the state of a row of the document is called."""
    return choose(_STATES[row["state"]], lang)[0]


def pair_name(row: dict[str, Any], lang: str) -> str:
    """Both components of a row with their versions, `?` for one that is not known; or that it is of the ledger."""
    if row["pair"][0] == "tried":
        return choose(_TRIED, lang)[0]
    names = (name_of(component, "zh" if lang == "zh" else "en") for component in row["pair"])
    return " - ".join(f"{name} {version or '?'}" for name, version in zip(names, row["found"], strict=True))


def source_text(row: dict[str, Any], lang: str) -> str:
    """What a row rests on."""
    return f"{label('sources', lang)}{colon(lang)}{row['source']}"
