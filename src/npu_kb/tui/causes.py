"""A diagnosis as the items that one walks through beside the log: causes with their evidence, codes, next steps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from npu_kb.intake.clean import printable
from npu_kb.intake.salient import who_and_words
from npu_kb.render.terminal import feedback_note
from npu_kb.render.text import SEVERITY_NAMES, VERDICT_NAMES, choose, label
from npu_kb.tui.entry_items import command_text, effect, prose
from npu_kb.tui.judgement_items import judgement_items
from npu_kb.tui.words import say

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement

_STYLES = {"certain": "bold green", "likely": "bold yellow", "possible": "bold cyan"}
_EVIDENCE = 4
_CHARS = 240
_CAUSE_ROWS = 3
"""About how many rows of a cause there is room for on a small screen."""


class Place(NamedTuple):
    """A line of a log; it counts from 1."""

    source: str
    line: int


class CauseItem(NamedTuple):
    """What is shown; the match it belongs to, the line it points to, the command it names, what copying it gives."""

    text: Text
    copy: str
    match: str = ""
    place: Place | None = None
    command: str = ""


def cause_items(
    document: dict[str, Any], wrong_pairs: Sequence[Judgement], set_aside: Collection[str], commands: dict[str, str],
    logs: list[str], lang: str, columns: int = 0,
) -> list[CauseItem]:  # fmt: skip
    """The items of a diagnosis document, and below its causes the versions that do not go together.

    `commands` has ids by command line. Of several `logs` each line names its; evidence of others is the machine's.
    Where room is short, evidence and cause are cut to few rows of so many `columns`; 0: they are shown whole.
    """
    return list(_Causes(document, wrong_pairs, set_aside, commands, logs, lang, columns).items())


def match_head(match: dict[str, Any], lang: str) -> Text:
    """How sure a match is, its title, and what explains it."""
    title = " / ".join(printable(text) for text in choose(match["title"], lang))
    verdict = choose(VERDICT_NAMES[match["verdict"]], lang)[0]
    head = Text.assemble((verdict.upper(), _STYLES[match["verdict"]]), "  ", (title, "bold"))
    if match["severity"] != "fault":
        head.append(f"  ({choose(SEVERITY_NAMES[match['severity']], lang)[0]})")
    if match["explained_by"]:
        head.append(f"\n  {say('caused by', lang)} {match['explained_by']}", "dim")
    return head


class _Causes:
    def __init__(
        self, document: dict[str, Any], wrong_pairs: Sequence[Judgement], set_aside: Collection[str],
        commands: dict[str, str], logs: list[str], lang: str, columns: int,
    ) -> None:  # fmt: skip
        self.document, self.wrong_pairs, self.set_aside = document, wrong_pairs, set_aside
        self.commands, self.logs, self.lang, self.columns = commands, logs, lang, columns

    def items(self) -> Iterator[CauseItem]:
        matches = self.document["matches"]
        if not any(match["verdict"] != "possible" for match in matches):
            text = label("nothing" if self.document["lines_read"] else "empty", self.lang)
            yield CauseItem(Text(text, "bold"), text)
        for place, match in enumerate(sorted(matches, key=lambda match: match["id"] in self.set_aside)):
            yield from self._match(match)
            if place == 0 and match["verdict"] != "possible" and match["id"] not in self.set_aside:
                yield from self._remedy(match)
        if self.wrong_pairs:
            yield from (CauseItem(item.text, item.copy) for item in judgement_items(self.wrong_pairs, self.lang))
        yield from self._next_steps()
        yield from self._codes()
        yield from self._facts()

    def _match(self, match: dict[str, Any]) -> Iterator[CauseItem]:
        title = " / ".join(printable(text) for text in choose(match["title"], self.lang))
        head = match_head(match, self.lang)
        if note := feedback_note(match, self.lang):
            head.append(f"\n  {note}", "dim")
        if match["id"] in self.set_aside:
            head = Text.assemble((say("set aside", self.lang) + ": ", "dim"), (title, "dim strike"))
        yield CauseItem(head, f"{match['id']}: {title}", match["id"])
        for evidence in match["evidence"][:_EVIDENCE] if match["id"] not in self.set_aside else []:
            place = Place(evidence["source"], evidence["line"])
            shown, is_of_log = self._placed(place, evidence["text"]), place.source in self.logs
            yield CauseItem(shown, evidence["text"], match["id"], place if is_of_log else None)

    def _remedy(self, match: dict[str, Any]) -> Iterator[CauseItem]:
        """Cause and fixes of the first answer, which one wants to read at once."""
        cause = "\n".join(printable(text) for text in choose(match["cause"], self.lang))
        shown = Text.assemble((label("cause", self.lang), "bold"), "  ", prose(cause))
        yield CauseItem(self._cut(shown, _CAUSE_ROWS), cause, match["id"])
        for number, fix in enumerate(match["fix"], 1):
            text = "\n".join(printable(text) for text in choose(fix, self.lang))
            shown = Text.assemble(
                (self._fix_name(number, len(match["fix"])), "bold"),
                "  ",
                prose(text),
                " ",
                effect(fix["effect"], self.lang),
            )
            if fix.get("run"):
                shown.append("\n").append_text(command_text(fix["run"]))
            yield CauseItem(shown, fix.get("run") or text, match["id"])

    def _fix_name(self, number: int, count: int) -> str:
        return label("fix", self.lang) + (f" {number}" if count > 1 else "")

    def _placed(self, place: Place, text: str, style: str = "red") -> Text:
        name = f"{printable(place.source)} " if len(self.logs) > 1 else ""
        if place.source not in self.logs:
            name = f"{say('this machine', self.lang)}, {printable(place.source)} "
        line = Text.assemble((f"  > {name}{place.line}: ", "dim"), (who_and_words(printable(text))[1][:_CHARS], style))
        return self._cut(line, 1)

    def _cut(self, text: Text, rows: int) -> Text:
        """The beginning that fits into so many rows, where room is short."""
        if self.columns:
            text.truncate(rows * self.columns, overflow="ellipsis")
        return text

    def _next_steps(self) -> Iterator[CauseItem]:
        for number, step in enumerate(self.document["next"]):
            why = " / ".join(printable(text) for text in choose(step["why"], self.lang))
            shown = Text.assemble((f"$ {printable(step['run'])}", "cyan"), (f"\n  {why}", "dim"))
            head = Text.assemble((label("capture", self.lang), "bold"), "\n") if number == 0 else Text()
            yield CauseItem(head + shown, step["run"], command=self.commands.get(step["run"], ""))

    def _codes(self) -> Iterator[CauseItem]:
        for number, row in enumerate(self.document["codes"]):
            meaning = " / ".join(printable(text) for text in choose(row["meaning"], self.lang))
            place = Place(row["source"], row["line"])
            head = Text.assemble((label("codes", self.lang), "bold"), "\n") if number == 0 else Text()
            shown = Text.assemble((f"{printable(str(row['code']))}", "bold"), f" ({row['family']}) {meaning}")
            yield CauseItem(head + shown, f"{row['code']}: {meaning}", place=place)

    def _facts(self) -> Iterator[CauseItem]:
        rows = [f"{name} {version}" for name, version in self.document["versions"].items()]
        for name, values in self.document["facts"].items():
            known = ", ".join(f"{v['subject']}={v['value']}" if v["subject"] else str(v["value"]) for v in values[:8])
            rows.append(f"{name}: {known}")
        if rows:
            text = printable("; ".join(rows))
            yield CauseItem(Text.assemble((say("facts", self.lang), "bold"), "\n", text), text)
