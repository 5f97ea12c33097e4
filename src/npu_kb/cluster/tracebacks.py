"""The last exception that each writer of a log told with a traceback, whether the knowledge has it or not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.cluster.observation import MAX_TEXT, Clue
from npu_kb.cluster.times import read_time
from npu_kb.cluster.writers import bare, label_of, rank_of
from npu_kb.intake.clean import decode, printable

HEADER = "Traceback (most recent call last)"
LONGEST = 16_000
"""Bytes from a header on in which its exception is looked for."""
_MOST = 256
"""Writers of a log of which a traceback is kept."""
_RAISED = re.compile(r"(?:\w{1,60}\.){0,9}\w{0,60}(?:Error|Exception|Interrupt|Exit|Timeout|Expired|Failure)(?:: .*)?$")
_MOST_SHOWN = 200
_DIGITS = re.compile(r"\d")

_Writer = tuple[int | None, tuple[str, int] | None]


class Tracebacks:
    """The last traceback of each writer of a log; their lines are read when they are asked for."""

    def __init__(self) -> None:
        self._last: dict[_Writer, tuple[int, bytes]] = {}

    def see(self, number: int, text: bytes) -> None:
        """A header and what stands below it; the same one again if more has come."""
        writer = _writer(decode(text.split(b"\n", 1)[0]))
        if writer in self._last or len(self._last) < _MOST:
            self._last[writer] = number, text

    def join(self, other: Tracebacks, lines: int) -> None:
        """Add those of the part of the log behind so many lines."""
        for number, text in other._last.values():
            self.see(number + lines, text)

    def clues(self, source: str) -> Iterator[Clue]:
        """What each writer raised last."""
        for number, text in self._last.values():
            lines = [printable(line) for line in decode(text).split("\n")]
            if found := _raised(lines):
                at, error = found
                values = {"error": error[:_MOST_SHOWN]}
                yield Clue(source, number + at, read_time(lines[at]), "raised", values, lines[at].strip()[:MAX_TEXT])


def _writer(line: str) -> _Writer:
    return rank_of(line), label_of(line)


def _raised(lines: list[str]) -> tuple[int, str] | None:
    """Which line names the exception of the traceback that begins with the first one, and its words."""
    writer, before = _writer(lines[0]), bare(lines[0]).partition(HEADER)[0]
    for at, line in enumerate(lines):
        text = bare(line)
        if before and _DIGITS.sub("0", text[: len(before)]) == _DIGITS.sub("0", before):
            text = text[len(before) :]
        if _writer(line) == writer and (found := _RAISED.match(text.rstrip())):
            return at, found[0]
    return None
