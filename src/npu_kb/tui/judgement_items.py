"""A judgement on versions as items to walk through: what does not go together first, what does is only counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from npu_kb.intake.clean import printable
from npu_kb.render.judgement import MEND, STATE_COLOURS, judgement_document, pair_name, source_text, state_name, summary
from npu_kb.render.text import choose
from npu_kb.tui.entry_items import Item, prose
from npu_kb.tui.words import say

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement

Row = dict[str, Any]
"""A judgement as its document has it."""


def judgement_items(judgements: Sequence[Judgement], lang: str) -> Iterator[Item]:
    """The sum, the smallest change, then pair by pair; a combination that somebody tried comes before the pairs."""
    document = judgement_document([*judgements])
    summed, colour = choose(summary(document), lang)[0], STATE_COLOURS.get(document["state"], "")
    yield Item(Text(summed, f"bold {colour}".strip()), summed)
    yield from (_mend(mend, lang) for mend in document["mends"])
    groups: dict[str, list[Row]] = {"tried": [], "wrong": [], "unknown": [], "good": []}
    for judgement, row in zip(judgements, document["judgements"], strict=True):
        groups[_group(judgement)].append(row)
    names_mend = len(document["mends"]) > 1
    yield from (_row(row, lang, names_mend) for name in ("tried", "wrong", "unknown") for row in groups[name])
    if groups["good"]:
        yield _good(groups["good"], lang)


def _group(judgement: Judgement) -> str:
    if judgement.pair[0] == "tried":
        return "tried"
    return "wrong" if judgement.is_fault else "unknown" if judgement.state == "unknown" else "good"


def _mend(mend: dict[str, str], lang: str) -> Item:
    text = printable(choose(mend, lang)[0])
    return Item(Text.assemble((choose(MEND, lang)[0], "bold"), "  ", prose(text)), mend.get("run", text))


def _row(row: Row, lang: str, names_mend: bool) -> Item:
    """A pair with its versions, the reason and the source, and its own change where there are several."""
    state, name = state_name(row, lang), printable(pair_name(row, lang))
    reason, source = printable(choose(row["reason"], lang)[0]), printable(source_text(row, lang))
    shown = Text.assemble((state, f"bold {STATE_COLOURS[row['state']]}"), "  ", (name, "bold"))
    shown.append_text(Text.assemble("\n  ", prose(reason)))
    if names_mend and row["mend"]:
        shown.append(f"\n  {choose(MEND, lang)[0]}: {printable(choose(row['mend'], lang)[0])}", "bold")
    if source:
        shown.append(f"\n  {source}", "dim")
    return Item(shown, f"{state}: {name}. {reason} {source}".rstrip())


def _good(rows: list[Row], lang: str) -> Item:
    names = "; ".join(printable(pair_name(row, lang)) for row in rows)
    counted = say("good pairs", lang, count=len(rows))
    return Item(Text.assemble((counted, "green"), (f"  {names}", "dim")), f"{counted} {names}")
