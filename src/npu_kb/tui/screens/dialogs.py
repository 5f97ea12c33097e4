"""Small windows: a choice, a question, a text, the keys of a screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Input, Static

from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.screens.base import GLOBAL_KEYS, Dialog, PlaceScreen, app_of
from npu_kb.tui.widgets.item_list import ItemList


class Choice(NamedTuple):
    """Something to choose, and its value."""

    text: Text
    value: str


class ChoiceDialog(Dialog):
    """Answers the value that was chosen."""

    def __init__(self, title: str, choices: Sequence[Choice]) -> None:
        super().__init__()
        self._heading, self._choices = title, choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self._heading, classes="title", markup=False)
            yield ItemList[Choice](id="choices")

    def on_mount(self) -> None:
        self.query_one(ItemList).show(list(self._choices))
        self.query_one(ItemList).focus()

    @on(ItemList.OptionSelected)
    def choose(self, event: ItemList.OptionSelected) -> None:
        self.dismiss(self._choices[event.option_index].value)


class AskDialog(Dialog):
    """Answers the line that was typed."""

    def __init__(self, question: str, proposed: str = "") -> None:
        super().__init__()
        self._question, self._proposed = question, proposed

    def compose(self) -> ComposeResult:
        with Vertical(classes="window small"):
            yield Static(self._question, classes="title", markup=False)
            yield Input(self._proposed, id="answer")

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)


class TextDialog(Dialog):
    """Shows a text; y copies it."""

    BINDINGS = bindings([Key("y", "copy", "copy"), Key("enter", "dismiss(None)", "back")])

    def __init__(self, title: str, text: Text) -> None:
        super().__init__()
        self._heading, self._shown = title, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self._heading, classes="title", markup=False)
            with VerticalScroll():
                yield Static(self._shown, markup=False)

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def action_copy(self) -> None:
        app_of(self).copy(self._shown.plain)


def help_dialog(screen: PlaceScreen) -> TextDialog:
    """All keys of a screen, and what it is for."""
    text = Text(screen.say(f"help {screen.NAME}") + "\n\n")
    for key in screen.KEYS:
        text.append_text(Text.assemble((f"{key.label:>6}", "bold"), f"  {screen.say(key.name)}\n"))
    text.append(f"\n{screen.say('everywhere')}\n", "bold")
    for number, place in enumerate(app_of(screen).places, 2):
        text.append_text(Text.assemble((f"{f'F{number}':>6}", "bold"), f"  {screen.say(place)}\n"))
    for key in GLOBAL_KEYS:
        text.append_text(Text.assemble((f"{key.label:>6}", "bold"), f"  {screen.say(key.name)}\n"))
    return TextDialog(screen.say("help of", name=screen.say(screen.NAME)), text)
