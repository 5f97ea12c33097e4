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
    "tried": {"en": "These versions were tried before.", "zh": "这一组合有试用记录。"},
    "none": {"en": "No two versions are known that could be judged.", "zh": "没有可供判断的版本组合。"},
}
_FAILED = {"en": "Somebody who tried them met a failure: see the ledger.", "zh": "有人试用时遇到失败，见试用记录。"}
MEND = {"en": "Smallest change", "zh": "最小改动"}
_TRIED = {"en": "Ledger", "zh": "试用记录"}
_RESULTS: dict[str, dict[str, str]] = {
    "unsupported": {"en": "FAILS", "zh": "失败"},
    "compatible": {"en": "slow", "zh": "较慢"},
    "matched": {"en": "works", "zh": "可用"},
}
"""What a state means of a combination that somebody tried."""


def overall(judgements: list[Judgement]) -> str:
    """The worst state of a pair; `tried` where there are only combinations of the ledger, `none` without judgements.

    What somebody tried is a note beside the pairs: it depends on more than the versions, and may contradict another.
    """
    states = {judgement.state for judgement in judgements if judgement.pair[0] != "tried"}
    return next((state for state in _STATES if state in states), "tried" if judgements else "none")


def judgement_document(judgements: list[Judgement]) -> dict[str, Any]:
    """{"schema", "state": the worst of the pairs, "mends": each once, "judgements": [{"pair", "found", ...}]}"""
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
        if source := source_text(row, lang):
            page.paragraph(source, 2, "dim")
    return page.text()


def judgement_block(judgements: list[Judgement], lang: str, width: int) -> str:
    """The text as a block of code of Markdown, an empty line before it."""
    return f"\n```text\n{judgement_text(judgements, lang, False, width)}```\n"


def summary(document: dict[str, Any]) -> dict[str, str]:
    """What a judgement document comes to, in a sentence; and in another that somebody saw these versions fail."""
    is_good = document["state"] in ("compatible", "matched")
    summed = _SUMMARIES["drawback" if is_good and document["mends"] else document["state"]]
    failed = any(row["pair"][0] == "tried" and row["state"] == "unsupported" for row in document["judgements"])
    return {"en": f"{summed['en']} {_FAILED['en']}", "zh": summed["zh"] + _FAILED["zh"]} if failed else summed


def state_name(row: dict[str, Any], lang: str) -> str:
    """What the state of a row of the document is called; of the ledger, the result."""
    return choose((_RESULTS if row["pair"][0] == "tried" else _STATES)[row["state"]], lang)[0]


def pair_name(row: dict[str, Any], lang: str) -> str:
    """Both components of a row with their versions, `?` for one that is not known; or that it is of the ledger."""
    if row["pair"][0] == "tried":
        return choose(_TRIED, lang)[0]
    names = (name_of(component, "zh" if lang == "zh" else "en") for component in row["pair"])
    return " - ".join(f"{name} {version or '?'}" for name, version in zip(names, row["found"], strict=True))


def source_text(row: dict[str, Any], lang: str) -> str:
    """What a row rests on; empty where no source speaks of it."""
    return f"{label('sources', lang)}{colon(lang)}{row['source']}" if row["source"] else ""
