"""An answer at length: the entry with what the log filled in."""

from __future__ import annotations

from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from npu_kb.render.document import entry_document
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.screens.base import Dialog, app_of
from npu_kb.tui.widgets.entry_view import EntryView


class AnswerDialog(Dialog):
    """Shows a match document; links lead to other entries, b leads back."""

    BINDINGS = bindings(
        [
            Key("y", "copy", "copy"),
            Key("x", "run", "run"),
            Key("b,backspace", "back", "back"),
            Key("q", "dismiss(None)", "back"),
        ]
    )

    def __init__(self, document: dict[str, Any]) -> None:
        super().__init__()
        self._trail = [document]

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield EntryView(id="answer")

    def on_mount(self) -> None:
        self._show_last()
        self.query_one(EntryView).focus()

    def _show_last(self) -> None:
        self.query_one(EntryView).show_document(self._trail[-1])

    @on(EntryView.Follow)
    def follow(self, event: EntryView.Follow) -> None:
        if entry := app_of(self).catalog.entry(event.id):
            self._trail.append(entry_document(entry, app_of(self).knowledge))
            self._show_last()

    def action_back(self) -> None:
        if len(self._trail) > 1:
            self._trail.pop()
            self._show_last()
        else:
            self.dismiss(None)

    def action_copy(self) -> None:
        self.query_one(EntryView).copy()

    def action_run(self) -> None:
        self.query_one(EntryView).run()
