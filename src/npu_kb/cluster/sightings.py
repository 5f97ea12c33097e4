"""What one pass over the bytes of a log, or of a part of it, leaves: counts without end, lines only as samples."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from npu_kb.cluster.anchors import LEVELS, Anchors
from npu_kb.cluster.clues import ClueReader
from npu_kb.cluster.engines import Engine
from npu_kb.cluster.needles import WHITE, Calls, Needles
from npu_kb.cluster.times import read_time
from npu_kb.intake.clean import decode
from npu_kb.intake.logtext import MAX_LINE

_LOWER = bytes(range(256)).lower()
_ENDS = 16_000
"""Bytes kept of a log's start and end."""
_FIRST = 5
"""A needle's first lines are kept, then its 8th, 16th, 32nd..."""
_MOST_KEPT = 40
_STAMP_ABOVE = 20
"""A line without a time has that of one of so many lines above it."""
_MOST_CLUE_LINES = 5_000
NEAR, _MOST_NEAR = 8, 2_000
"""Lines on either side of a needle that needs company, and how many of them a log keeps."""

Window = tuple[float | None, float | None]
"""Since and until, UTC seconds."""


class Probe(NamedTuple):
    """What a scan looks for and with what; the same for all logs."""

    needles: Needles
    anchors: Anchors
    engine: Engine
    needles_of: list[list[tuple[int, bytes, int]]]
    """The needles of each of the engine's anchors: number, literal, and bytes from its start to the anchor's end."""
    calls: Calls
    window: Window


class Seen(NamedTuple):
    """A line that holds a needle."""

    line: int
    offset: int
    text: bytes
    """With the next line where the needle goes on there."""
    time: float | None


class Sightings:
    """The needles seen in a log so far."""

    def __init__(self, source: str, offset: int = 0, lines: int = 0) -> None:
        self.source = source
        self.offset, self.lines = offset, lines
        """Bytes and lines before what is read next."""
        self.errors = 0
        self.counts: dict[int, int] = {}
        self.kept: dict[int, list[Seen]] = {}
        self.last: dict[int, tuple[int, float | None]] = {}
        """Line and time of each needle's last line."""
        self.near: dict[int, bytes] = {}
        """Lines around needles that do not say enough by themselves."""
        self.trouble = ""
        """Why the log was not read to its end."""
        self.clues = ClueReader(source)
        self.head = self.tail = b""
        self._clue_lines = 0

    def read(self, chunk: bytes, probe: Probe) -> None:
        """Look at the next whole lines of the log."""
        number, counted, end = self.lines + 1, 0, -1
        line = _Line(chunk, 0, 0, 0)
        last: dict[int, _Line] = {}
        needles_of, always = probe.needles_of, probe.window == (None, None)
        for anchor, behind in probe.engine.hits(chunk):
            if anchor < len(LEVELS):
                self.errors += 1
            if not (needles := needles_of[anchor]):
                continue
            if behind > end:
                start, end = _bounds(chunk, behind - 1)
                number += chunk.count(b"\n", counted, start)
                counted = start
                line = _Line(chunk, start, end, number)
            place, text = line.squeezed_place(behind), line.with_next
            for needle, literal, offset in needles:
                begin = place - offset
                if not text.startswith(literal, begin) or not 0 <= begin < line.size or last.get(needle) is line:
                    continue
                if always or _is_within(line.time, probe.window):
                    last[needle] = line
                    self._count(needle, line, begin + len(literal) > line.size, probe)
        self.last.update({needle: (line.number, line.time) for needle, line in last.items()})
        self._pass(chunk, number - 1 + chunk.count(b"\n", counted))

    def _count(self, needle: int, line: _Line, goes_on: bool, probe: Probe) -> None:
        count = self.counts[needle] = self.counts.get(needle, 0) + 1
        if count <= _FIRST or count & (count - 1) == 0:
            seen = Seen(line.number, self.offset + line.start, line.text(goes_on), line.time)
            self.kept.setdefault(needle, []).append(seen)
            if count <= _FIRST and needle in probe.anchors.in_company and len(self.near) < _MOST_NEAR:
                self.near.update(line.around())
        if needle in probe.needles.more and not line.clues_read and self._clue_lines < _MOST_CLUE_LINES:
            line.clues_read = True
            self._clue_lines += 1
            self.clues.read(decode(line.chunk[line.start : line.end]), line.number, line.time)

    def _pass(self, chunk: bytes, lines: int) -> None:
        if self.offset == 0:
            for number, text in enumerate(chunk[:_ENDS].split(b"\n")[:3], 1):
                self.clues.read(decode(text), number, read_time(decode(text)))
        if len(self.head) < _ENDS:
            self.head += chunk[: _ENDS - len(self.head)]
        self.tail = chunk[-_ENDS:]
        self.lines = lines
        self.offset += len(chunk)

    def extend(self, other: Sightings) -> None:
        """Add what was seen in the part of the log behind this one."""
        for needle, kept in other.kept.items():
            mine = self.kept.setdefault(needle, [])
            room = max(1, _FIRST - len(mine)) if len(mine) < _MOST_KEPT else 0
            mine += [seen._replace(line=seen.line + self.lines) for seen in kept[:room]]
        for needle, count in other.counts.items():
            self.counts[needle] = self.counts.get(needle, 0) + count
        self.last.update({needle: (line + self.lines, time) for needle, (line, time) in other.last.items()})
        if len(self.near) < _MOST_NEAR:
            self.near.update({line + self.lines: text for line, text in other.near.items()})
        self.trouble = self.trouble or other.trouble
        for clue in other.clues.clues:
            self.clues.read(clue.text, clue.line + self.lines, clue.time)
        self.errors += other.errors
        self.lines += other.lines
        self.head, self.tail, self.offset = self.head or other.head, other.tail or self.tail, other.offset


class _Line:
    """A line of a chunk; a very long one is cut around the place where a needle may stand."""

    def __init__(self, chunk: bytes, start: int, end: int, number: int) -> None:
        self.chunk, self.start, self.end, self.number = chunk, start, end, number
        squeezed = chunk[start:end].translate(_LOWER, WHITE)
        self.size = len(squeezed)
        self.with_next = squeezed + chunk[end : self._end_of_next()].translate(_LOWER, WHITE)
        """Squeezed; the first `size` bytes are this line's."""
        self.clues_read = False

    def squeezed_place(self, place: int) -> int:
        """Where a place of the chunk is in the squeezed line."""
        return len(self.chunk[self.start : place].translate(_LOWER, WHITE))

    def text(self, goes_on: bool) -> bytes:
        """The line, with the next one if the literal goes on there."""
        return self.chunk[self.start : self._end_of_next() if goes_on else self.end]

    def around(self) -> dict[int, bytes]:
        """The lines near this one, by number."""
        start, end = self.start, self.end
        for _ in range(NEAR):
            start = self.chunk.rfind(b"\n", 0, max(0, start - 1)) + 1
            end = self.chunk.find(b"\n", end + 1)
            end = len(self.chunk) if end < 0 else end
        first = self.number - self.chunk.count(b"\n", start, self.start)
        return {first + n: text[:MAX_LINE] for n, text in enumerate(self.chunk[start:end].split(b"\n"))}

    @cached_property
    def time(self) -> float | None:
        """UTC seconds that the line tells, or one of those above it."""
        start, end = self.start, self.end
        for _ in range(_STAMP_ABOVE):
            time = read_time(self.chunk[start : min(end, start + 400)].decode("utf-8", "replace"))
            if time is not None or start == 0:
                return time
            start, end = self.chunk.rfind(b"\n", 0, start - 1) + 1, start - 1
        return None

    def _end_of_next(self) -> int:
        end = self.chunk.find(b"\n", self.end + 1)
        return min(len(self.chunk) if end < 0 else end, self.end + MAX_LINE // 2)


def _bounds(chunk: bytes, place: int) -> tuple[int, int]:
    """(start, end) of the line around a place."""
    start, end = chunk.rfind(b"\n", 0, place) + 1, chunk.find(b"\n", place)
    half = MAX_LINE // 2
    return max(start, place - half), min(len(chunk) if end < 0 else end, place + half)


def _is_within(time: float | None, window: Window) -> bool:
    since, until = window
    return time is None or ((since is None or time >= since) and (until is None or time <= until))
