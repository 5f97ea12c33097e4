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
_COLOURS = {"unsupported": "red", "unknown": "yellow", "compatible": "green", "matched": "green"}
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
_MEND = {"en": "Smallest change", "zh": "最小改动"}
_TRIED = {"en": "Ledger", "zh": "试用记录"}


def overall(judgements: list[Judgement]) -> str:
    """The worst state; `none` without judgements."""
    states = {judgement.state for judgement in judgements}
    return next((state for state in _STATES if state in states), "none")


def judgement_document(judgements: list[Judgement]) -> dict[str, Any]:
    """{"schema", "state": the worst, "mends": each once, "judgements": [{"pair", "found", "state", "reason", ...}]}"""
    rows = [{**item._asdict(), "pair": list(item.pair), "found": list(item.found)} for item in judgements]
    return {"schema": SCHEMA, "state": overall(judgements), "mends": _mends(judgements), "judgements": rows}


def judgement_text(judgements: list[Judgement], lang: str, colour: bool, width: int) -> str:
    """The sum, the smallest change, then pair by pair in the order in which they were judged; lang: en, zh, both."""
    page = Page(lang, colour, width)
    for text in choose(_SUMMARIES[_summary(judgements)], lang):
        page.paragraph(text, 0, "bold")
    for mend in _mends(judgements):
        page.blank()
        page.lines.append(page.style(choose(_MEND, lang)[0], "bold"))
        for text in choose(mend, lang):
            page.paragraph(text, 2)
    for judgement in judgements:
        page.blank()
        _judgement(page, judgement)
    return page.text()


def _summary(judgements: list[Judgement]) -> str:
    state = overall(judgements)
    return "drawback" if state in ("compatible", "matched") and any(item.mend for item in judgements) else state


def _mends(judgements: list[Judgement]) -> list[dict[str, str]]:
    found = {item.mend["en"]: item.mend for item in judgements if item.mend}
    return list(found.values())


def _judgement(page: Page, judgement: Judgement) -> None:
    state = choose(_STATES[judgement.state], page.lang)[0]
    if judgement.pair[0] == "tried":
        name = choose(_TRIED, page.lang)[0]
    else:
        name = " - ".join(map(_shown(page.lang), judgement.pair, judgement.found))
    page.paragraph(f"{state}  {name}", 0, "bold", _COLOURS[judgement.state])
    for text in choose(judgement.reason, page.lang):
        page.paragraph(text, 2)
    page.paragraph(f"{label('sources', page.lang)}{colon(page.lang)}{judgement.source}", 2, "dim")


def _shown(lang: str) -> Any:
    def shown(component: str, version: str | None) -> str:
        return f"{name_of(component, 'zh' if lang == 'zh' else 'en')} {version or '?'}"

    return shown
