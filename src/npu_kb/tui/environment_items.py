"""A machine, the differences of two, a checklist: the parts that one walks through, and which a filter leaves."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from rich.text import Text

from npu_kb.intake.clean import printable
from npu_kb.render.checklist import MOST_TOLD, STEP_COLOURS, hand_note, is_settled, step_mark, sum_text
from npu_kb.render.environment import SAME
from npu_kb.render.environment_blocks import Block, Row, difference_blocks, snapshot_blocks
from npu_kb.render.text import choose
from npu_kb.tui.causes import match_head
from npu_kb.tui.entry_items import Item, command_text, effect
from npu_kb.tui.judgement_items import judgement_items
from npu_kb.tui.machines import Machine
from npu_kb.tui.widgets.machine_tree import CHOSEN
from npu_kb.tui.words import say

_MOST_ROWS = 200
"""Of a block that are shown; the filter looks at all."""
_LONGEST = 240
"""Of a setting, and of a line of evidence."""
_LONGEST_ROW = 2_000
_EVIDENCE = 2
_INDENT = "    "


class Part(NamedTuple):
    """An item, or a line of a block to make one of, and the heading that stands above the first one of its group."""

    heading: str
    content: Item | Row

    @property
    def text(self) -> str:
        """What is looked at by the filter."""
        shown = self.content.text
        return f"{self.heading} {shown if isinstance(shown, str) else shown.plain}".lower()

    def item(self, is_first: bool) -> Item:
        """With the heading above it, where it is the first of its group."""
        item = self.content if isinstance(self.content, Item) else _of_row(self.content)
        if not is_first or not self.heading:
            return item
        return item._replace(text=Text.assemble((self.heading, "bold underline"), "\n", item.text))


def machine_parts(machine: Machine, lang: str) -> list[Part]:
    """What `npu-kb doctor` finds, the judgement on its versions, then its facts as `npu-kb env` groups them."""
    told = (*_findings(machine.findings["matches"], lang), *judgement_items(machine.judgements, lang))
    return [*(Part("", item) for item in told), *_parts(snapshot_blocks(machine.snapshot, lang, _LONGEST))]


def _findings(matches: list[dict[str, Any]], lang: str) -> Iterator[Item]:
    """What the facts claim, each with the lines that say so; what is only possible where they claim nothing."""
    claims = [match for match in matches if match["verdict"] != "possible"]
    for match in claims or matches:
        shown = match_head(match, lang)
        for line in match["evidence"][:_EVIDENCE]:
            shown.append(f"\n  {printable(line['source'])}: {printable(line['text'])[:_LONGEST]}", "red")
        yield Item(shown, f"{match['id']}: {printable(choose(match['title'], lang)[0])}", match["id"])


def difference_parts(first: Machine, second: Machine, lang: str) -> list[Part]:
    """What differs, as `npu-kb env compare` groups it."""
    from npu_kb.environment.compare import compare

    differences = compare(first.snapshot, second.snapshot)
    blocks = difference_blocks(differences, lang)
    return _parts(blocks) if differences else text_parts(choose(SAME, lang)[0])


def text_parts(text: str) -> list[Part]:
    """One text."""
    return [Part("", Item(Text(text), text))]


def list_parts(checklists: dict[str, Any], lang: str) -> list[Part]:
    """What each checklist is for, below how to choose the machine."""
    parts = text_parts(say("about checklists", lang, mark=CHOSEN))
    for id, checklist in checklists.items():
        title, when = (printable(choose(checklist[name], lang)[0]) for name in ("title", "when"))
        parts.append(Part("", Item(Text.assemble((title, "bold"), "\n  ", when), id)))
    return parts


def _parts(blocks: list[Block]) -> list[Part]:
    return [Part(block.heading, row) for block in blocks for row in block.rows]


def _of_row(row: Row) -> Item:
    text = printable(row.text[:_LONGEST_ROW]) + ("..." if len(row.text) > _LONGEST_ROW else "")
    shown = Text.assemble(("! ", "bold red"), (text, "red")) if row.is_odd else Text(f"  {text}")
    return Item(shown, row.whole)


def checklist_parts(document: dict[str, Any], titles: dict[str, dict[str, str]], lang: str) -> list[Part]:
    """The steps of a checklist document, each with what to run, what must be seen and what tells it.

    `titles` are those of entries by id. The key of a step is its English title.
    """
    title, when = (printable(choose(document[name], lang)[0]) for name in ("title", "when"))
    summed = sum_text(document, lang) if document["checked"] else say("nothing told", lang)
    head = Text.assemble((title, "bold"), "\n", when, "\n", (summed, "bold"))
    parts = [Part("", Item(head, f"{title}: {summed}"))]
    for number, step in enumerate(document["steps"], 1):
        parts += [Part("", item) for item in _of_step(number, step, titles, lang)]
    return parts


def _of_step(number: int, step: dict[str, Any], titles: dict[str, dict[str, str]], lang: str) -> Iterator[Item]:
    key, title = step["title"]["en"], printable(choose(step["title"], lang)[0])
    style = "green" if is_settled(step) else " ".join(STEP_COLOURS[step["state"]])
    shown = Text.assemble((step_mark(step), f"bold {style}".strip()), f" {number:>2} ", (title, "bold"))
    if note := hand_note(step, lang):
        shown.append(f"\n{_INDENT}{note}", style)
    for told in step["told"][:MOST_TOLD]:
        shown.append(f"\n{_INDENT}{printable(choose(told, lang)[0])}", style)
    shown.append(f"\n{_INDENT}{printable(choose(step['expect'], lang)[0])}", "dim")
    if step["run"]:
        shown.append_text(Text.assemble(f"\n{_INDENT}", command_text(step["run"]), " ", effect(step["effect"], lang)))
    yield Item(shown, step["run"] or title, command=step.get("command", ""), key=key)
    if step["state"] == "wrong" or not step["told"]:
        for id in step["entries"]:
            text = printable(choose(titles[id], lang)[0]) if id in titles else ""
            yield Item(Text.assemble(_INDENT, (id, "underline cyan"), f" {text}"), id, id, key=key)


def counts(document: dict[str, Any]) -> str:
    """`3/12`: how many steps are settled, of how many."""
    return f"{sum(map(is_settled, document['steps']))}/{len(document['steps'])}"


def shown_items(parts: list[Part], words: str, lang: str) -> list[Item]:
    """The items that hold all these words, themselves or in their heading; of each group as many as one can read.

    Where there are none, that is said.
    """
    wanted = words.lower().split()
    fitting = [part for part in parts if all(word in part.text for word in wanted)] if wanted else parts
    items: list[Item] = []
    for heading, group in groupby(fitting, lambda part: part.heading):
        shown = [*group]
        rest = shown[_MOST_ROWS:] if heading else []
        items += [part.item(number == 0) for number, part in enumerate(shown[: len(shown) - len(rest)])]
        if rest:
            items.append(Item(Text("  " + say("more rows", lang, count=len(rest)), "dim"), ""))
    return items or [Item(Text(say("none sifted", lang), "dim"), "")]
