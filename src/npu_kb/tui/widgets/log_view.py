"""A log with its evidence marked; always literally, whatever stands in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import ClassVar

from rich.cells import cell_len, get_character_cell_size
from rich.text import Text

from npu_kb.intake.salient import who_and_words
from npu_kb.tui.keys import Key, bindings
from npu_kb.tui.logfile import LogFile, is_trouble
from npu_kb.tui.widgets.line_view import LineView

_GUTTER = 9
_SIDEWAYS = 20


class LogView(LineView):
    """All lines of a log, or those of a filter; line numbers count from 1 as everywhere.

    Of what stands before the words of a line only the worker or rank is shown, unless whole lines are wanted.
    """

    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("left,h", "sideways(-1)", "scroll"), Key("right,l", "sideways(1)", "scroll"),
        Key("0", "line_start", "line start", False),
    )  # fmt: skip
    BINDINGS = bindings(KEYS)

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self.log_file: LogFile | None = None
        self.evidence: set[int] = set()
        """Numbers of the lines that speak for a cause."""
        self.only: Sequence[int] | None = None
        """Numbers of the lines that a filter leaves, in order."""
        self.marked: range = range(0)
        """Line numbers that the user marked."""
        self._whole_lines = False
        self._widest = 0

    def show(self, log: LogFile | None, evidence: set[int], only: Sequence[int] | None = None) -> None:
        """Show a log; the cursor stays at its line where it can."""
        here = self.line_number if log is self.log_file else 1
        if log is not self.log_file:
            self._widest, self.marked = 0, range(0)
            self.scroll_to(0, 0, animate=False)
        self.log_file, self.evidence, self.only = log, evidence, only
        self.rows_changed()
        self.go_to(here)

    @property
    def line_number(self) -> int:
        """The number of the line under the cursor."""
        if self.only is None:
            return self.cursor + 1
        return self.only[self.cursor] if self.cursor < len(self.only) else 1

    @property
    def line(self) -> str:
        """The text of the line under the cursor."""
        return self.log_file.line(self.line_number - 1) if self.log_file and self.row_count() else ""

    def go_to(self, number: int) -> None:
        """Put the cursor on a line, or on the next one that the filter leaves; a third of the screen stays above."""
        row = number - 1 if self.only is None else bisect_left(self.only, number)
        self.cursor = row
        self.scroll_to(y=max(0, self.cursor - self.size.height // 3), animate=False, force=True)
        self.refresh()

    def row_count(self) -> int:
        if self.only is not None:
            return len(self.only)
        return self.log_file.line_count if self.log_file else 0

    def widest(self) -> int:
        return self._widest

    def row_text(self, row: int, start: int, width: int) -> Text:
        assert self.log_file is not None
        number = row + 1 if self.only is None else self.only[row]
        line = self.log_file.line(number - 1)
        who, words = ("", line) if self._whole_lines else who_and_words(line)
        lead = f"{who} " if who else ""
        self._note_width(lead + words)
        trouble, proof = is_trouble(line), number in self.evidence
        mark = ">" if proof else "!" if trouble else " "
        style = "bold red" if proof else "yellow" if trouble else ""
        gutter = "reverse" if number in self.marked else "dim"
        text = Text.assemble((f"{number:>{_GUTTER - 3}} ", gutter), (f"{mark} ", style or "dim"))
        text.append(cells_from(lead, start, width), "dim")
        text.append(cells_from(words, max(0, start - cell_len(lead)), width), style)
        return text

    def _note_width(self, line: str) -> None:
        width = _GUTTER + (len(line) if line.isascii() else 2 * len(line))
        if width > self._widest:
            self._widest = width
            self.call_later(self.rows_changed)

    def action_sideways(self, direction: int) -> None:
        self.scroll_to(x=max(0, self.scroll_x + direction * _SIDEWAYS), animate=False, force=True)

    def action_line_start(self) -> None:
        self.scroll_to(x=0, animate=False, force=True)

    def toggle_whole_lines(self) -> None:
        """Show also times, processes and places in source, or leave them out again."""
        self._whole_lines, self._widest = not self._whole_lines, 0
        self.action_line_start()
        self.rows_changed()


def cells_from(line: str, start: int, width: int) -> str:
    """The part of a line that begins at cell `start`, at least `width` cells of it where it has them."""
    if line.isascii():
        return line[start : start + width]
    edges = _edges(line)
    return line[bisect_left(edges, start) : bisect_right(edges, start + width)]


@lru_cache(maxsize=256)
def _edges(line: str) -> list[int]:
    """The cell at which each character starts."""
    return list(accumulate((get_character_cell_size(char) for char in line), initial=0))
