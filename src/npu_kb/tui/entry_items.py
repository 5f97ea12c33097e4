"""An entry, or an answer, as the items that one walks through: texts, commands, links to other entries, addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from rich.text import Text

from npu_kb.intake.clean import printable
from npu_kb.render.conditions import condition_lines
from npu_kb.render.entry import versions_text
from npu_kb.render.terminal import applies_note
from npu_kb.render.text import EFFECT_NAMES, SEVERITY_NAMES, choose, label
from npu_kb.tui.catalog import Links
from npu_kb.tui.words import say, value_name

_CODE = re.compile(r"`([^`]+)`")
_EFFECT_STYLES = {"read": "green", "write": "yellow", "restart": "yellow", "reset": "bold red", "replace": "bold red"}

Spans = Callable[[str], list[tuple[int, int]]]


class Item(NamedTuple):
    """What is shown, what copying it gives, and where it leads: the id of an entry or of a command of commands.yaml."""

    text: Text
    copy: str
    entry: str = ""
    command: str = ""
    key: str = ""
    """What the screen knows it by that shows it."""


def entry_items(document: dict[str, Any], links: Links, topic: str, lang: str, spans: Spans) -> list[Item]:
    """The items of an entry document or a match document; `topic` is the name of its topic."""
    return list(_Entry(document, links, topic, lang, spans).items())


class _Entry:
    def __init__(self, document: dict[str, Any], links: Links, topic: str, lang: str, spans: Spans) -> None:
        self.document, self.topic, self.lang, self.spans = document, topic, lang, spans
        self.links = links

    def items(self) -> Iterator[Item]:
        yield self._heading()
        yield from self._field("symptom")
        yield from self._field("cause")
        yield from self._versions()
        yield from self._fixes()
        yield from self._checks()
        yield from self._field("verify")
        yield from self._linked()
        yield from self._patterns()
        yield from self._references()

    def _heading(self) -> Item:
        document = self.document
        title = "\n".join(printable(text) for text in choose(document["title"], self.lang))
        severity = choose(SEVERITY_NAMES[document["severity"]], self.lang)[0]
        place = [value_name("layer", document["layer"], self.lang), self.topic, severity]
        place += [value_name("status", document["status"], self.lang)] if "status" in document else []
        head = Text.assemble(
            (document["id"], "dim"), "\n", self._prose(title, "bold"), "\n", (" / ".join(place), "dim")
        )
        return Item(head, f"{document['id']}: {title}")

    def _field(self, name: str) -> Iterator[Item]:
        for text in choose(self.document[name], self.lang):
            yield Item(_labelled(label(name, self.lang), self._prose(printable(text))), text)

    def _prose(self, text: str, style: str = "") -> Text:
        """A text with its `code` and what was searched for marked."""
        shown = prose(text, style)
        for start, end in self.spans(text):
            shown.stylize("bold underline yellow", start, end)
        return shown

    def _versions(self) -> Iterator[Item]:
        applies = self.document.get("applies")
        note = applies_note(applies, self.lang) if applies else versions_text(self.document.get("versions", {}))
        if note:
            yield Item(_labelled(say("versions", self.lang), Text(printable(note))), note)

    def _fixes(self) -> Iterator[Item]:
        fixes = self.document["fix"]
        for number, fix in enumerate(fixes, 1):
            text = "\n".join(printable(text) for text in choose(fix, self.lang))
            counted = f"{number}. {text}" if len(fixes) > 1 else text
            shown = Text.assemble(self._prose(counted), " ", effect(fix["effect"], self.lang))
            yield Item(_labelled(label("fix", self.lang), shown) if number == 1 else shown, text)
            if fix.get("run"):
                yield Item(command_text(fix["run"]), fix["run"])

    def _checks(self) -> Iterator[Item]:
        for number, check in enumerate(self.document["diagnose"]):
            expect = " / ".join(printable(text) for text in choose(check["expect"], self.lang))
            shown = Text.assemble(
                command_text(check["run"]), " ", effect(check["effect"], self.lang), "\n", ("  " + expect, "dim")
            )
            head = label("check", self.lang)
            yield Item(_labelled(head, shown) if number == 0 else shown, check["run"], command=check.get("command", ""))

    def _linked(self) -> Iterator[Item]:
        document = self.document
        for name, ids in (
            ("causes", document.get("causes", [])),
            ("caused by", self.links.caused_by.get(document["id"], [])),
            ("related", document.get("related", [])),
        ):
            for id in ids:
                title = printable(choose(self.links.titles[id], self.lang)[0]) if id in self.links.titles else ""
                yield Item(
                    Text.assemble((say(name, self.lang), "bold"), " ", (id, "underline cyan"), f" {title}"), id, id
                )

    def _patterns(self) -> Iterator[Item]:
        if lines := condition_lines(self.document.get("match", []), self.lang):
            shown = Text("\n".join(printable(line) for line in lines), "dim")
            yield Item(_labelled(label("match", self.lang), shown), "\n".join(lines))

    def _references(self) -> Iterator[Item]:
        for number, reference in enumerate(self.document["references"]):
            where = printable(reference.get("url") or reference["source"])
            shown = Text(where, "dim")
            yield Item(_labelled(label("sources", self.lang), shown) if number == 0 else shown, where)


def _labelled(name: str, text: Text) -> Text:
    return Text.assemble((name, "bold"), "\n", text)


def prose(text: str, style: str = "") -> Text:
    """A text with its `code` marked."""
    shown = Text(text, style)
    for found in _CODE.finditer(text):
        shown.stylize("cyan", found.start(), found.end())
    return shown


def effect(name: str, lang: str) -> Text:
    """What a command or fix does to the machine."""
    return Text(f"[{choose(EFFECT_NAMES[name], lang)[0]}]", _EFFECT_STYLES[name])


def command_text(run: str) -> Text:
    """A command as one types it."""
    lines = [printable(line) for line in run.strip().split("\n")]
    return Text("\n".join(f"$ {line}" for line in lines), "cyan")
