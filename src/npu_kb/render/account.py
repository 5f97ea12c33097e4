"""Which conditions of an entry held in a log, for `why --explain`."""

from __future__ import annotations

from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.render.page import Page
from npu_kb.render.text import VERDICT_NAMES, choose, clipped, colon, label, line_label

_SHOWN_BLOCKS = 4
_ACCOUNT = {
    True: {"en": "holds", "zh": "成立"},
    False: {"en": "does not hold", "zh": "不成立"},
}


def account_text(document: dict[str, Any], lang: str, colour: bool, width: int = 80) -> str:
    """Which conditions of an entry held in a log, for `why --explain`."""
    page = Page(lang, colour, width)
    tongue = "zh" if lang == "zh" else "en"
    page.lines.append(
        f"{page.style(document['id'], 'dim')}  {label('matched' if document['matches'] else 'unmatched', lang)}"
    )
    for title in choose(document["title"], lang):
        page.paragraph(title, 0, "bold")
    for number, block in enumerate(document["blocks"][:_SHOWN_BLOCKS], 1):
        page.blank()
        proves = VERDICT_NAMES[block["proves"]][tongue]
        page.lines.append(f"{number}. {_ACCOUNT[block['holds']][tongue]} ({proves})")
        for row in block["conditions"]:
            _condition(page, row, tongue)
        if block["too_far_apart"]:
            page.paragraph(f"{label('far', lang)} {block['within']}", 3)
    if not document["blocks"]:
        page.paragraph(label("wordless", lang), 0)
    return page.text()


def _condition(page: Page, row: dict[str, Any], tongue: str) -> None:
    mark = page.style("+", "green") if row["holds"] else page.style("-", "red")
    page.lines.append(f"   {mark} {clipped(row['kind'] + ': ' + printable(row['what']), page.width - 5)}")
    for line in row["lines"][:1]:
        page.paragraph(
            clipped(line_label(line["line"], tongue) + colon(tongue) + line["text"], page.width - 8), 7, "dim"
        )
    if near := row.get("nearest"):
        mark = colon(tongue)
        text = (
            f"{label('near', tongue)} {near['nearness']}%{mark}{line_label(near['line'], tongue)}{mark}{near['text']}"
        )
        page.paragraph(clipped(text, page.width - 8), 7, "yellow")
