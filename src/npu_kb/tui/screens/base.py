"""What all screens have: a head that names the places, a line of keys at the foot, the language of the app."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Static

from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.words import say

if TYPE_CHECKING:
    from npu_kb.tui.app import KnowledgeApp

GLOBAL_KEYS = (
    Key("f1", "app.help", "help"), Key("f8", "app.language", "language"), Key("f9", "app.theme", "theme", False),
    Key("ctrl+p", "app.command_palette", "palette", False), Key("ctrl+q", "app.leave", "quit"),
)  # fmt: skip


def app_of(widget: Widget) -> KnowledgeApp:
    """The app, by its own type."""
    return cast("KnowledgeApp", widget.app)


class Tab(Static):
    """The name of a screen in the head; a click goes there."""

    def __init__(self, place: str) -> None:
        super().__init__(markup=False, classes="tab")
        self.place = place

    def on_click(self, event: events.Click) -> None:
        event.stop()
        app_of(self).go(self.place)


class PlaceScreen(Screen[None]):
    """One of the places of the app. Subclasses give NAME, KEYS, `body` and `tell`."""

    NAME: ClassVar[str]
    KEYS: ClassVar[tuple[Key, ...]]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (110, "-wide")]  # noqa: RUF012

    def compose(self) -> ComposeResult:
        with Horizontal(id="head"):
            for place in app_of(self).places:
                yield Tab(place)
            yield Static(id="info", markup=False)
        yield from self.body()
        yield Static(id="keys", markup=False)

    def body(self) -> Iterable[Widget]:
        """The widgets between head and foot."""
        raise NotImplementedError

    def on_mount(self) -> None:
        self.tell()

    @property
    def lang(self) -> str:
        """The language of the interface."""
        return app_of(self).lang

    def say(self, name: str, /, **words: object) -> str:
        """A text of the interface in its language."""
        return say(name, self.lang, **words)

    def knowledge_changed(self) -> None:
        """The knowledge was read anew; screens that show it follow."""

    def index_came(self) -> None:
        """The full-text index has come; screens that search follow."""

    def session_changed(self) -> None:
        """A log was added; screens that show logs follow."""

    def tell(self) -> None:
        """Say everything in the language of the app; called again when it changes."""
        for number, tab in enumerate(self.query(Tab), 2):
            tab.update(f" F{number} {self.say(tab.place)} ")
            tab.set_class(tab.place == self.NAME, "here")
        self.query_one("#info", Static).update(key_line(GLOBAL_KEYS, self.lang))
        self.query_one("#keys", Static).update(key_line(self.KEYS, self.lang))


class Dialog(ModalScreen[object]):
    """A window in front of a screen; Esc, or a click beside it, closes it without an answer."""

    BINDINGS = bindings([Key("escape", "close", "back")])

    @property
    def lang(self) -> str:
        """The language of the interface."""
        return app_of(self).lang

    def say(self, name: str, /, **words: object) -> str:
        """A text of the interface in its language."""
        return say(name, self.lang, **words)

    def on_click(self, event: events.Click) -> None:
        if self.get_widget_at(*event.screen_offset)[0] is self:
            self.action_close()

    def action_close(self) -> None:
        """Close it without an answer."""
        self.dismiss(None)


def key_line(keys: Iterable[Key], lang: str) -> Text:
    """The shown keys with what they do, on one line."""
    line = Text(no_wrap=True, overflow="ellipsis")
    for key in keys:
        if key.shown:
            line.append_text(Text.assemble((key.label, "bold reverse"), f" {say(key.name, lang)}  "))
    line.rstrip()
    return line
