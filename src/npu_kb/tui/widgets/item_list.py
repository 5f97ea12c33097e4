"""Items to walk through with the cursor: an entry's parts, or ranked causes with their evidence."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.padding import Padding
from rich.style import Style
from rich.text import Text
from textual.strip import Strip
from textual.widgets import OptionList
from textual.widgets.option_list import Option


class Shown(Protocol):
    """An item with what is shown of it."""

    @property
    def text(self) -> Text: ...


T = TypeVar("T", bound=Shown)


class _Hanging:
    """A text of which each line, where it is wrapped, goes on as far in as it begins."""

    def __init__(self, text: Text) -> None:
        self._lines = text.split(allow_blank=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines:
            indent = len(line.plain) - len(line.plain.lstrip(" "))
            yield Padding(line[indent:], (0, 0, 0, indent))


class ItemList(OptionList, Generic[T]):
    """Items of any length, one below the other; texts are shown literally."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        self.items: list[T] = []

    def show(self, items: list[T], cursor: int = 0) -> None:
        """Show these items, with the cursor on this one."""
        self.items = items
        self.clear_options()
        self.add_options([Option(_Hanging(item.text)) for item in items])
        if items:
            self.highlighted = min(cursor, len(items) - 1)

    def render_line(self, y: int) -> Strip:
        """The cursor is reversed where keys go, and underlined elsewhere: seen without colours, too."""
        strip, row = super().render_line(y), int(self.scroll_offset.y) + y
        if row >= len(self._lines) or self._lines[row][0] != self.highlighted:
            return strip
        return strip.apply_style(Style(reverse=True) if self.has_focus else Style(underline=True))

    @property
    def chosen(self) -> T | None:
        """The item under the cursor."""
        at = self.highlighted
        return self.items[at] if at is not None and at < len(self.items) else None
