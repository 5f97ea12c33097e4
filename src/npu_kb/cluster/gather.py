"""The rows of all scans, each once; of very many logs those are told together that nothing tells apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import TypeGuard

from npu_kb.cluster.clues import is_sound
from npu_kb.cluster.names import names_of
from npu_kb.cluster.observation import Clue, Observation, Row, SourceSummary
from npu_kb.diagnosis.model import CLAIMS

_MOST = 50_000
"""Rows that are kept as they are."""
_MOST_OF_A_GROUP, _LEAST_OF_A_GROUP = 128, 4
"""Faults, and clues as well, of logs that are told together: the more groups there are, the fewer of each."""


def gathered(rows: Iterable[Row], is_benign: Callable[[str], bool]) -> list[Row]:
    """Each sound row once, in an order that does not depend on how they came; `is_benign` tells that of an entry.

    Of more than 50,000, those of logs that lie in one folder, are named alike and say the same of whose they are
    become one for each fault, clue or reason: the first in time. If there are still too many, each group of such logs
    keeps its first faults and clues only. The rows of a log are expected one behind the other.
    """
    sound = (row for row in rows if not isinstance(row, Clue) or is_sound(row))
    known: dict[str, Row] = {}
    for row in sound:
        known[repr(row)] = row
        if len(known) > _MOST:
            return list(_in_order(_told_together(chain(known.values(), sound), is_benign)))
    return [row for _, row in sorted(known.items())]


def _in_order(rows: Iterable[Row]) -> Iterator[Row]:
    for _, of_one in groupby(sorted(rows, key=attrgetter("source")), attrgetter("source")):
        yield from sorted(of_one, key=repr)


def _told_together(rows: Iterable[Row], is_benign: Callable[[str], bool]) -> Iterator[Row]:
    groups: dict[Hashable, _LogsAlike] = {}
    most, kept = _MOST_OF_A_GROUP, 0
    for source, of_one in groupby(rows, attrgetter("source")):
        own = list(of_one)
        whose = frozenset(_meaning(row) for row in own if tells_whose(row))
        key = source[: max(map(source.rfind, "/!")) + 1], names_of(source), whose
        group = groups.setdefault(key, _LogsAlike())
        kept -= len(group.told)
        group.add(source, own)
        kept += group.keep_first(most, is_benign)
        if kept > 2 * _MOST and most > _LEAST_OF_A_GROUP:
            most //= 2
            kept = sum(group.keep_first(most, is_benign) for group in groups.values())
    for group in groups.values():
        yield from group.rows()


class _LogsAlike:
    """Logs that nothing tells apart."""

    def __init__(self) -> None:
        self._sources: set[int] = set()
        """Hashes of their names: a log that comes again is not counted again."""
        self._whose: dict[Hashable, Observation | Clue] = {}
        self._read: dict[str, SourceSummary] = {}
        self.told: dict[Hashable, Observation | Clue] = {}
        """Faults and clues."""

    def add(self, source: str, rows: list[Row]) -> None:
        """Add the rows of a log."""
        is_new = hash(source) not in self._sources
        self._sources.add(hash(source))
        for row in rows:
            if not isinstance(row, SourceSummary):
                into = self._whose if tells_whose(row) else self.told
                into[_meaning(row)] = min(row, into.get(_meaning(row), row), key=_when)
            elif is_new:
                self._read[row.skipped] = _sum(row, self._read.get(row.skipped))

    def keep_first(self, most: int, is_benign: Callable[[str], bool]) -> int:
        """Forget all but so many faults and clues, the benign and unsure ones first; how many are left."""
        if len(self.told) > 2 * most:

            def order(item: tuple[Hashable, Observation | Clue]) -> tuple[object, ...]:
                row = item[1]
                is_fault = isinstance(row, Observation)
                weak = isinstance(row, Observation) and (row.verdict not in CLAIMS or is_benign(row.entry))
                return is_fault, weak, _when(row)

            ordered = sorted(self.told.items(), key=order)
            clues = [item for item in ordered if isinstance(item[1], Clue)]
            self.told = dict([*clues[:most], *ordered[len(clues) :][:most]])
        return len(self.told)

    def rows(self) -> Iterator[Row]:
        """What is left; of each log that is still named it is said whose it is."""
        left = [*self._read.values(), *self.told.values()]
        yield from left
        for source in {row.source for row in left}:
            yield from (clue._replace(source=source) for clue in self._whose.values())


def tells_whose(row: Row) -> TypeGuard[Clue]:
    """Whether a row says whose a log is, and nothing of what happened."""
    return isinstance(row, Clue) and row.tells in ("member", "host", "stamp")


def _meaning(row: Observation | Clue) -> Hashable:
    """The same for rows that may become one."""
    if isinstance(row, Observation):
        return row.entry, row.verdict
    return row.tells, *sorted(row.values.items())


def _when(row: Observation | Clue) -> tuple[bool, float, str, int]:
    return row.time is None, row.time or 0.0, row.source, row.line


def _sum(one: SourceSummary, other: SourceSummary | None) -> SourceSummary:
    if other is None:
        return one
    return SourceSummary(
        source=min(one.source, other.source),
        bytes=one.bytes + other.bytes,
        lines=one.lines + other.lines,
        first_time=min((time for time in (one.first_time, other.first_time) if time is not None), default=None),
        last_time=max((time for time in (one.last_time, other.last_time) if time is not None), default=None),
        errors=one.errors + other.errors,
        skipped=one.skipped,
        logs=one.logs + other.logs,
    )
