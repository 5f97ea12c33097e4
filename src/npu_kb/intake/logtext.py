"""A log as the diagnosis reads it: plain lines with their origin, and the squeezed form of the whole."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from npu_kb.intake.clean import clean_lines, decode
from npu_kb.patterns import squeeze

MAX_LINE = 16_384
"""Characters; a longer line is cut into pieces that keep its number."""
_MAX_WRAPS = 5
_NARROWEST = 40
_WORD = re.compile(r"\S+")


class Line(NamedTuple):
    """One plain line and where it came from."""

    text: str
    number: int
    source: str
    rank: str | None = None
    indent: int = 0
    """Spaces that stood before the text, behind the prefixes of launchers and collectors."""


class LogText:
    """Plain lines and, for matching across wraps, all their text squeezed into one string."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines
        parts = [squeeze(line.text) for line in lines]
        self.squeezed = "".join(parts)
        self._starts = [0, *accumulate(map(len, parts))][:-1]

    @classmethod
    def of(cls, data: bytes | str, source: str = "-") -> LogText:
        """The lines of one paste or file."""
        return cls(lines_of(data, source))

    @cached_property
    def text(self) -> str:
        """All plain lines."""
        return "\n".join(line.text for line in self.lines)

    def unwrapped(self, index: int) -> str:
        """The line and, where a terminal seems to have cut it at its right edge, its continuation."""
        text, last = self.lines[index].text, index
        while self._goes_on(last) and last - index < _MAX_WRAPS:
            is_at_space = len(self.lines[last].text) < self._edge or self.lines[last + 1].indent
            last += 1
            text += " " * bool(is_at_space) + self.lines[last].text
        return text

    def origins(self, index: int) -> list[int]:
        """The line itself and those before it whose `unwrapped` text reaches it, the nearest first."""
        first = index
        while first > 0 and index - first < _MAX_WRAPS and self._goes_on(first - 1):
            first -= 1
        return list(range(index, first - 1, -1))

    def _goes_on(self, index: int) -> bool:
        """Whether a line seems to be cut at the edge, or at a space there, which was taken off."""
        return index + 1 < len(self.lines) and len(self.lines[index].text) >= self._edge - 1

    @cached_property
    def _edge(self) -> int:
        """Width at which lines seem to be cut: that of the longest line."""
        return max(_NARROWEST, *(len(line.text) for line in self.lines))

    def line_at(self, offset: int) -> int:
        """Index of the line that holds this offset of the squeezed text."""
        return bisect_right(self._starts, offset) - 1

    def place(self, offset: int) -> tuple[int, int]:
        """(line index, character index in that line) of an offset of the squeezed text."""
        index = self.line_at(offset)
        remaining = offset - self._starts[index]
        for word in _WORD.finditer(self.lines[index].text):
            start, end = word.span()
            if remaining < end - start:
                return index, start + remaining
            remaining -= end - start
        return index, len(self.lines[index].text)


def lines_of(data: bytes | str, source: str) -> list[Line]:
    """The plain lines of bytes or text; blank lines are left out, the others keep their number."""
    text = decode(data) if isinstance(data, bytes) else data
    return [
        Line(plain[at : at + MAX_LINE], number, source, rank, indent)
        for number, plain, rank, indent in clean_lines(text)
        for at in range(0, len(plain), MAX_LINE)
    ]
