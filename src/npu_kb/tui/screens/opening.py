"""Bring a log: paste it, or pick a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.widgets import DirectoryTree, Input, Static, TextArea

from npu_kb.intake.clean import printable
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.screens.base import Dialog


class PasteDialog(Dialog):
    """Answers the text that was pasted or typed."""

    BINDINGS: ClassVar[list[BindingType]] = bindings([Key("ctrl+d,f5", "done", "diagnose")])

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self.say("paste here"), classes="title", markup=False)
            yield _PasteArea(id="area", compact=True)

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()

    def action_done(self) -> None:
        self.dismiss(self.query_one(TextArea).text)


class _PasteArea(TextArea):
    """A text area that leaves ^D to the dialog."""

    BINDINGS: ClassVar[list[BindingType]] = bindings([Key("ctrl+d", "screen.done", "diagnose")])


class _Files(DirectoryTree):
    """Files by name, whatever stands in the names."""

    ICON_NODE = "+ "
    ICON_NODE_EXPANDED = "- "
    ICON_FILE = "  "

    def process_label(self, label: object) -> Text:
        return Text(printable(str(label)))


class OpenDialog(Dialog):
    """Answers the path of a file or folder."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(self.say("path"), classes="title", markup=False)
            yield Input(id="path", compact=True)
            yield _Files(Path.cwd(), id="files")

    @on(Input.Changed)
    def look_into(self, event: Input.Changed) -> None:
        """Show the files of the folder that was typed."""
        if os.path.isdir(folder := typed_path(event.value)):  # noqa: PTH112
            self.query_one(_Files).path = Path(folder)

    @on(Input.Submitted)
    def typed(self, event: Input.Submitted) -> None:
        if event.value.strip():
            self.dismiss(typed_path(event.value))

    @on(DirectoryTree.FileSelected)
    def picked(self, event: DirectoryTree.FileSelected) -> None:
        self.dismiss(str(event.path))


def typed_path(text: str) -> str:
    """The path that was typed, `~` written out where it is known what it stands for."""
    return os.path.expanduser(text.strip().replace("\0", ""))  # noqa: PTH111
