"""Statistics as terminal text."""

from __future__ import annotations

from typing import Any

from npu_kb.render import history
from npu_kb.render.page import Page
from npu_kb.render.text import Say, choose, clipped

_MOST_ROWS = 10
_TEXTS = {
    "total": {
        "en": "{diagnoses:log}, {unanswered} without an answer ({share:.0%}).",
        "zh": "诊断日志 {diagnoses} 份，其中 {unanswered} 份没有结论（{share:.0%}）。",
    },
    "repeats": {
        "en": " {repeats:repeat} of the same logs not counted.",
        "zh": "相同日志重复诊断 {repeats} 次，不计入。",
    },
    "topics": {"en": "By topic", "zh": "按主题"},
    "entries": {"en": "By cause", "zh": "按原因"},
    "versions": {"en": "By version", "zh": "按版本"},
    "weeks": {"en": "By week", "zh": "按周"},
    "unanswered": {"en": "{number} without an answer", "zh": "{number} 份没有结论"},
    "wrong": {"en": "Reported wrong", "zh": "被标为误判"},
    "reports": {"en": "{wrong}x wrong, {right}x right", "zh": "误判 {wrong} 次，正确 {right} 次"},
    "never": {"en": "Never named here: {number} of {known} entries", "zh": "从未命中的条目：{number} / {known}"},
    "all": {"en": "; npu-kb stats --all lists them.", "zh": "；用 npu-kb stats --all 列出。"},
}
_say = Say(_TEXTS)


def statistics_text(document: dict[str, Any], page: Page, every: bool) -> str:
    """A document of findings.statistics, ten rows a section, or all of them with `every`."""
    total = document["diagnoses"]
    if not total:
        return history.say("none", page.lang) + "\n"
    repeats = _say("repeats", page.lang, repeats=document["repeats"]) if document["repeats"] else ""
    page.paragraph(_say("total", page.lang, **document, share=document["unanswered"] / total) + repeats)
    most = None if every else _MOST_ROWS
    _section(
        page, "topics", [(row["count"], _named(row["topic"], row, page.lang)) for row in document["topics"][:most]]
    )
    _section(page, "entries", [(row["count"], _named(row["id"], row, page.lang)) for row in document["entries"][:most]])
    versions = [(row["count"], f"{row['component']} {row['version']}") for row in document["versions"][:most]]
    _section(page, "versions", versions)
    _section(page, "weeks", [(row["count"], _week(row, page.lang)) for row in document["weeks"][:most]])
    _wrong(page, document["reported_wrong"])
    _never(page, document, every)
    return page.text()


def _section(page: Page, name: str, rows: list[tuple[int, str]]) -> None:
    if not rows:
        return
    page.blank()
    page.paragraph(_say(name, page.lang), 0, "bold")
    for count, text in rows:
        page.paragraph(f"{count:>6}  {clipped(text, page.width - 8)}")


def _named(id: str, row: dict[str, Any], lang: str) -> str:
    return f"{id}: {choose(row['title'], lang)[0]}" if row["title"] else id


def _week(row: dict[str, Any], lang: str) -> str:
    unanswered = f", {_say('unanswered', lang, number=row['unanswered'])}" if row["unanswered"] else ""
    return f"{row['week']}{unanswered}"


def _wrong(page: Page, rows: list[dict[str, Any]]) -> None:
    if rows:
        page.blank()
        page.paragraph(_say("wrong", page.lang), 0, "bold")
    for row in rows:
        page.paragraph(f"{row['id']}: {_say('reports', page.lang, **row)}", 2)


def _never(page: Page, document: dict[str, Any], every: bool) -> None:
    never = document["never_named"]
    page.blank()
    text = _say("never", page.lang, number=len(never), known=document["entries_known"])
    page.paragraph(text + ("" if every or not never else _say("all", page.lang)))
    for id in never if every else []:
        page.paragraph(id, 2)
