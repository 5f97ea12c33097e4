"""What one pass over the bytes of a log, or of a part of it, leaves: counts without end, lines only as samples."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple
from zlib import crc32

from npu_kb.cluster import tracebacks
from npu_kb.cluster.anchors import LEVELS, Anchors
from npu_kb.cluster.candidates import Candidates
from npu_kb.cluster.clues import ClueReader
from npu_kb.cluster.engines import Engine
from npu_kb.cluster.needles import WHITE, Calls, Needles
from npu_kb.cluster.times import Moment, read_time
from npu_kb.intake.clean import decode
from npu_kb.intake.logtext import MAX_LINE
from npu_kb.patterns import squeeze

_LOWER = bytes(range(256)).lower()
ENDS = 16_000
"""Bytes kept of a log's start and end."""
_FIRST = 5
"""A needle's first lines are kept, and later ones of other words: a fault may hide behind lines that repeat."""
_MOST_KEPT = 8
_VALUES = WHITE + b"0123456789abcdefABCDEF"
"""What lines of the same words differ in."""
_TRACEBACK = squeeze(tracebacks.HEADER).encode()
_MOST_LINES = 6
"""That a literal may span, as in the matcher."""
_STAMP_ABOVE = 20
"""A line without a time has that of one of so many lines above it."""
_MOST_CLUE_LINES = 5_000
NEAR, OUTPUT, _MOST_NEAR = 8, 120, 2_000
"""Lines on either side of a needle that needs company, below a sign of an output, and how many of them a log keeps."""


class Bound(NamedTuple):
    """An end of a window of time: UTC seconds, or those of a clock as each log writes it, whatever its zone."""

    seconds: float
    as_written: bool = False

    def comparable(self, time: Moment) -> float:
        """A time of a log as it compares with the seconds."""
        return time + (time.zone or 0) if self.as_written else time


Window = tuple[Bound | None, Bound | None]
"""Since and until."""


class Probe(NamedTuple):
    """What a scan looks for and with what; the same for all logs."""

    needles: Needles
    anchors: Anchors
    engine: Engine
    candidates: list[Candidates]
    """Of each of the engine's anchors."""
    calls: Calls
    window: Window


class Seen(NamedTuple):
    """A line that holds a needle, or that is near one."""

    line: int
    offset: int
    text: bytes
    """With the lines in which the needle goes on, and the one below them."""
    time: float | None
    """Of a line near such a one, that one's."""


class Sightings:
    """The needles seen in a log so far."""

    def __init__(self, source: str, offset: int = 0, lines: int = 0, above: bytes = b"") -> None:
        """`above` are the last bytes before what is read next."""
        self.source = source
        self.offset, self.lines = offset, lines
        """Bytes and lines before what is read next."""
        self.errors = 0
        self.counts: dict[int, int] = {}
        self.kept: dict[int, list[Seen]] = {}
        self._wordings: dict[int, set[int]] = {}
        """Of the lines of each needle that are kept."""
        self.last: dict[int, tuple[int, float | None]] = {}
        """Line and time of each needle's last line."""
        self.near: dict[int, Seen] = {}
        """Lines around needles that do not say enough by themselves."""
        self.trouble = ""
        """Why the log was not read to its end."""
        self.clues = ClueReader(source)
        self.head, self.tail = b"", above
        self._clue_lines = 0

    def read(self, chunk: bytes, probe: Probe) -> None:
        """Look at the next bytes of the log, and once more at the last ones before them: a needle may span both."""
        self._begin(chunk)
        known = len(self.tail)
        self.offset -= known
        self.lines -= self.tail.count(b"\n")
        chunk = self.tail + chunk
        number, counted, start, end = self.lines + 1, 0, 0, -1
        line = _Line(chunk, 0, 0, 0)
        last: dict[int, _Line] = {}
        candidates, more, counts = probe.candidates, probe.needles.more, self.counts
        always = probe.window == (None, None)
        for anchor, behind in probe.engine.hits(chunk):
            if anchor < len(LEVELS):
                self.errors += behind > known
            if not (needles := candidates[anchor]):
                continue
            if behind > end:
                start, end = _bounds(chunk, behind - 1)
                number += chunk.count(b"\n", counted, start)
                counted = start
                line = _Line(chunk, start, end, number)
                text, size = line.squeezed, line.size
            place = len(chunk[start:behind].translate(None, WHITE))
            for needle, literal, offset in needles.at(text, place):
                begin = place - offset
                if begin >= 0 and text.startswith(literal, begin):
                    found: _Line | None = line
                # it may go beyond this line: looked at only if the part of it here fits, as this is done very often
                elif text[0] == literal[-begin] if begin < 0 else literal.startswith(text[begin:]):
                    found = line.where_it_starts(literal, begin)
                else:
                    continue
                if not found or (needle in last and last[needle].start == found.start):
                    continue
                if start < known and begin + len(literal) <= line.squeezed_place(known):
                    self._complete(needle, found, line, found is not line or begin + len(literal) > size, probe)
                elif always or _is_within(found.time, probe.window):
                    last[needle] = found
                    count = counts[needle] = counts.get(needle, 0) + 1
                    if count <= _FIRST or found.wording not in self._wordings[needle]:
                        self._keep(needle, found, line, found is not line or begin + len(literal) > size, probe)
                    if needle in more:
                        self._read_clue(found, literal)
        self.last.update({needle: (line.number, line.time) for needle, line in last.items()})
        self.lines = number - 1 + chunk.count(b"\n", counted)
        self.offset += len(chunk)
        self.tail = chunk[-ENDS:]

    def _keep(self, needle: int, line: _Line, last: _Line, spans_lines: bool, probe: Probe) -> None:
        """Keep a sample of a needle that starts in `line`, and of which an anchor stands in `last`."""
        kept = self.kept.setdefault(needle, [])
        if len(kept) < _MOST_KEPT:
            text = line.chunk[line.start : last.end_below(_MOST_LINES - 1 if spans_lines else 1)]
            kept.append(Seen(line.number, self.offset + line.start, text, line.time))
            self._wordings.setdefault(needle, set()).add(line.wording)
            self._keep_near(needle, line, probe)

    def _read_clue(self, line: _Line, literal: bytes) -> None:
        if literal == _TRACEBACK:
            self.clues.tracebacks.see(line.number, line.chunk[line.start : line.start + tracebacks.LONGEST])
        elif not line.clues_read and self._clue_lines < _MOST_CLUE_LINES:
            line.clues_read = True
            self._clue_lines += 1
            self.clues.read(decode(line.chunk[line.start : line.end]), line.number, line.time)

    def _complete(self, needle: int, line: _Line, last: _Line, spans_lines: bool, probe: Probe) -> None:
        """Keep what stands below a needle that was counted, now that it has come."""
        literal = probe.needles.all[needle].literal
        if literal == _TRACEBACK and _is_within(line.time, probe.window):
            self._read_clue(line, literal)
        kept = self.kept.get(needle)
        if kept and kept[-1].line == line.number:
            text = line.chunk[line.start : last.end_below(_MOST_LINES - 1 if spans_lines else 1)]
            kept[-1] = kept[-1]._replace(text=max(text, kept[-1].text, key=len))
            self._keep_near(needle, line, probe)

    def _keep_near(self, needle: int, line: _Line, probe: Probe) -> None:
        is_sign = needle in probe.needles.signs
        says_enough = not is_sign and needle not in probe.anchors.in_company
        if says_enough or len(self.near) >= _MOST_NEAR:
            return
        for number, start, text in line.around(OUTPUT if is_sign else NEAR):
            before = self.near.get(number)
            if not before or len(before.text) <= len(text):
                self.near[number] = Seen(number, self.offset + start, text, line.time)

    def _begin(self, chunk: bytes) -> None:
        if self.offset == 0:
            for number, text in enumerate(chunk[:ENDS].split(b"\n")[:3], 1):
                self.clues.read(decode(text), number, read_time(decode(text)))
        if len(self.head) < ENDS:
            self.head += chunk[: ENDS - len(self.head)]

    def extend(self, other: Sightings) -> None:
        """Add what was seen in the part of the log behind this one."""
        for needle, kept in other.kept.items():
            mine, wordings = self.kept.setdefault(needle, []), self._wordings.setdefault(needle, set())
            for seen in kept:
                wording = _wording_of(seen.text.split(b"\n", 1)[0])
                if len(mine) < _FIRST or (len(mine) < _MOST_KEPT and wording not in wordings):
                    mine.append(seen._replace(line=seen.line + self.lines))
                    wordings.add(wording)
        for needle, count in other.counts.items():
            self.counts[needle] = self.counts.get(needle, 0) + count
        self.last.update({needle: (line + self.lines, time) for needle, (line, time) in other.last.items()})
        if len(self.near) < _MOST_NEAR:
            self.near.update({n + self.lines: seen._replace(line=n + self.lines) for n, seen in other.near.items()})
        self.trouble = self.trouble or other.trouble
        for clue in other.clues.clues:
            self.clues.read(clue.text, clue.line + self.lines, clue.time)
        self.clues.writers.join(other.clues.writers)
        self.clues.tracebacks.join(other.clues.tracebacks, self.lines)
        self.errors += other.errors
        self.lines += other.lines
        self.head, self.tail, self.offset = self.head or other.head, other.tail or self.tail, other.offset


class _Line:
    """A line of a chunk; a very long one is cut around the place where a needle may stand."""

    def __init__(self, chunk: bytes, start: int, end: int, number: int) -> None:
        self.chunk, self.start, self.end, self.number = chunk, start, end, number
        self.squeezed = chunk[start:end].translate(_LOWER, WHITE)
        self.size = len(self.squeezed)
        self.clues_read = False

    @cached_property
    def wording(self) -> int:
        """The same for lines that differ in numbers only."""
        return _wording_of(self.chunk[self.start : self.end])

    def squeezed_place(self, place: int) -> int:
        """Where a place of the chunk is in the squeezed line."""
        return len(self.chunk[self.start : place].translate(_LOWER, WHITE))

    def where_it_starts(self, literal: bytes, begin: int) -> _Line | None:
        """This line or one above it: where a literal starts that spans lines; None if it does not stand there."""
        size = self.size
        if self.squeezed[max(0, begin) : begin + len(literal)] != literal[max(0, -begin) : size - begin]:
            return None
        if begin + len(literal) > size and not self._below.startswith(literal[size - begin :]):
            return None
        return self._where_it_ends_with(literal[: max(0, -begin)])

    def _where_it_ends_with(self, head: bytes) -> _Line | None:
        """The line above this one, or this one, from which on to this one's start there is just this."""
        line: _Line | None = self
        for _ in range(_MOST_LINES):
            if not head or not line:
                return line
            line = line._above
            share = min(len(head), line.size) if line else 0
            if line and not line.squeezed.endswith(head[len(head) - share :]):
                return None
            head = head[: len(head) - share]
        return None

    @cached_property
    def _below(self) -> bytes:
        """The lines in which a literal may go on, squeezed."""
        return self.chunk[self.end : self.end_below(_MOST_LINES - 1)].translate(_LOWER, WHITE)

    @cached_property
    def _above(self) -> _Line | None:
        if self.chunk[self.start - 1 : self.start] != b"\n":
            return None
        start, end = _bounds(self.chunk, self.start - 1)
        return _Line(self.chunk, start, end, self.number - 1)

    def around(self, below: int) -> Iterator[tuple[int, int, bytes]]:
        """The lines near this one, so many of those below: number, place, text."""
        start = self.start
        for _ in range(NEAR):
            start = self.chunk.rfind(b"\n", 0, max(0, start - 1)) + 1
        number = self.number - self.chunk.count(b"\n", start, self.start)
        while start < len(self.chunk) and number <= self.number + below:
            end = self.chunk.find(b"\n", start)
            end = len(self.chunk) if end < 0 else end
            yield number, start, self.chunk[start : min(end, start + MAX_LINE)]
            number, start = number + 1, end + 1

    @cached_property
    def time(self) -> Moment | None:
        """When the line was written, as it tells, or one of those above it."""
        start, end = self.start, self.end
        is_row_of_a_table = self.squeezed.startswith((b"|", b"+"))
        for _ in range(OUTPUT if is_row_of_a_table else _STAMP_ABOVE):
            time = read_time(self.chunk[start : min(end, start + 400)].decode("utf-8", "replace"))
            if time is not None or start == 0:
                return time
            start, end = self.chunk.rfind(b"\n", 0, start - 1) + 1, start - 1
        return None

    def end_below(self, lines: int) -> int:
        """Where the last of so many lines below ends, or the part of them that may matter."""
        end = self.end
        for _ in range(lines):
            end = self.chunk.find(b"\n", end + 1)
            if end < 0:
                end = len(self.chunk) - self.chunk.endswith(b"\n")
                break
        return min(end, self.end + MAX_LINE // 2)


def _wording_of(line: bytes) -> int:
    """A number that is the same for lines that differ in numbers only."""
    return crc32(line.translate(None, _VALUES))


def _bounds(chunk: bytes, place: int) -> tuple[int, int]:
    """(start, end) of the line around a place."""
    start, end = chunk.rfind(b"\n", 0, place) + 1, chunk.find(b"\n", place)
    half = MAX_LINE // 2
    return max(start, place - half), min(len(chunk) if end < 0 else end, place + half)


def _is_within(time: Moment | None, window: Window) -> bool:
    since, until = window
    if time is None:
        return True
    begun = since is None or since.comparable(time) >= since.seconds
    return begun and (until is None or until.comparable(time) <= until.seconds)
