"""Lines with a cursor, of which only those on the screen are ever made; the base of logs and lists."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from npu_kb.tui.keys import Key, bindings


class LineView(ScrollView, can_focus=True):
    """Subclasses say how many rows there are and what a row looks like (`row_count`, `row_text`)."""

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("up,k", "move(-1)", "up", False), Key("down,j", "move(1)", "down", False),
        Key("pageup", "page(-1)", "up", False), Key("pagedown,space", "page(1)", "down", False),
        Key("home,g", "first", "up", False), Key("end,G", "last", "down", False),
        Key("enter", "choose", "open link", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)
    COMPONENT_CLASSES = {"line-view--cursor", "line-view--dim"}  # noqa: RUF012

    cursor: reactive[int] = reactive(0)

    class Moved(Message):
        """The cursor stands on another row."""

        def __init__(self, view: LineView, row: int) -> None:
            super().__init__()
            self.view = view
            self.row = row

        @property
        def control(self) -> LineView:
            return self.view

    class Chosen(Moved):
        """Enter or a click on the row of the cursor."""

    def row_count(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def row_text(self, row: int, start: int, width: int) -> Text:
        """What a row shows from cell `start` on; what is wider than `width` is cut."""
        raise NotImplementedError

    def widest(self) -> int:
        """Cells of the widest row that is known."""
        return 0

    def rows_changed(self, cursor: int | None = None) -> None:
        """Show the rows anew, with the cursor on this one."""
        if cursor is not None:
            self.cursor = cursor
        self.cursor = self.validate_cursor(self.cursor)
        self.virtual_size = Size(self.widest(), self.row_count())
        self.show_cursor()
        self.refresh()

    def validate_cursor(self, row: int) -> int:
        return max(0, min(row, self.row_count() - 1))

    def watch_cursor(self) -> None:
        self.show_cursor()
        self.refresh()
        if self.is_mounted:
            self.post_message(self.Moved(self, self.cursor))

    def show_cursor(self) -> None:
        """Scroll so that the cursor is seen."""
        region = Region(int(self.scroll_x), self.cursor, 1, 1)
        self.scroll_to_region(region, animate=False, force=True, x_axis=False)

    def on_resize(self) -> None:
        self.rows_changed()

    def render_line(self, y: int) -> Strip:
        row, start, width = int(self.scroll_y) + y, int(self.scroll_x), self.size.width
        base = self.rich_style
        if row >= self.row_count():
            return Strip.blank(width, base)
        text = self.row_text(row, start, width)
        text.no_wrap, text.end = True, ""
        segments = [s for s in text.render(self.app.console) if s.text]
        strip = Strip(Segment.apply_style(segments, base)).crop(0, width).extend_cell_length(width, base)
        return strip.apply_style(self._cursor_style()) if row == self.cursor else strip

    def _cursor_style(self) -> Style:
        return Style(reverse=True) if self.has_focus else Style(underline=True)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        row = int(self.scroll_y) + event.y
        if row < self.row_count():
            again = row == self.cursor
            self.cursor = row
            if again:
                self.action_choose()

    def action_move(self, rows: int) -> None:
        self.cursor += rows

    def action_page(self, pages: int) -> None:
        self.cursor += pages * max(1, self.size.height - 1)

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = self.row_count() - 1

    def action_choose(self) -> None:
        if self.row_count():
            self.post_message(self.Chosen(self, self.cursor))
