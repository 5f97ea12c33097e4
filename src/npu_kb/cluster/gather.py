"""The rows of all scans, each once; of very many logs those are told together that nothing tells apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from hashlib import blake2b
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import TypeGuard, TypeVar

from npu_kb.cluster.clues import is_sound
from npu_kb.cluster.names import names_of
from npu_kb.cluster.observation import Clue, Observation, Row, SourceSummary
from npu_kb.diagnosis.model import CLAIMS

_FaultOrClue = TypeVar("_FaultOrClue", bound="Observation | Clue")
_MOST = 50_000
"""Rows that are kept as they are."""
_MOST_TOGETHER = 60_000
"""Rows that are kept of logs that are told together, and rows of rank tables as well."""
_MOST_OF_A_GROUP = 128
"""Faults, and clues as well, of logs that are told together: the more groups there are, the fewer of each."""
_MOST_OF_A_LOG = 10_000
"""Rows that are looked at together; a scan writes no more of one log."""


def gathered(rows: Iterable[Row], is_benign: Callable[[str], bool]) -> list[Row]:
    """Each sound row once, in an order that does not depend on how they came; `is_benign` tells that of an entry.

    Of more than 50,000, those of logs that lie in one folder, are named alike and say the same of whose they are
    become one for each fault, clue or reason: the first in time. If there are still too many, each group of such logs
    keeps its first faults and clues only; then the logs of a rank are one group, then those of a host. The rows of a
    log are expected one behind the other.
    """
    sound = (row for row in rows if not isinstance(row, Clue) or is_sound(row))
    known: dict[bytes, Row] = {}
    for row in sound:
        known[_digest(row)] = row
        if len(known) > _MOST:
            return list(_in_order(_told_together(chain(_taken_out(known), sound), is_benign)))
    return list(_in_order(known.values()))


def _digest(row: Row) -> bytes:
    """The same for the same row, and shorter than its text."""
    return blake2b(repr(row).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _taken_out(known: dict[bytes, Row]) -> Iterator[Row]:
    """The rows in their order, each of them forgotten."""
    for key in list(known):
        yield known.pop(key)


def _in_order(rows: Iterable[Row]) -> Iterator[Row]:
    for _, of_one in groupby(sorted(rows, key=attrgetter("source")), attrgetter("source")):
        yield from sorted(of_one, key=repr)


def _told_together(rows: Iterable[Row], is_benign: Callable[[str], bool]) -> Iterator[Row]:
    groups = _Groups(is_benign)
    for source, of_one in groupby(rows, attrgetter("source")):
        while own := list(islice(of_one, _MOST_OF_A_LOG)):
            groups.add(source, own)
    return groups.rows()


_Key = tuple[int, ...]
_PARTS_OF_A_KEY = 3


def _key(source: str, whose: list[Clue]) -> _Key:
    """What tells a log from others: its host; its rank and device; its folder and all that its name and itself say.

    Hashes of them: the longest keys would take more memory than a row.
    """
    names = names_of(source)
    ranks = frozenset(clue.values.get("rank") for clue in whose)
    folder = source[: max(map(source.rfind, "/!")) + 1]
    parts = names.host, (names.rank, names.device, ranks), (folder, names, frozenset(map(_meaning, whose)))
    return tuple(map(hash, parts))


class _Groups:
    """Logs in groups that nothing tells apart, or larger ones where memory asks for it."""

    def __init__(self, is_benign: Callable[[str], bool]) -> None:
        self._is_benign = is_benign
        self._groups: dict[_Key, _LogsAlike] = {}
        self._listed: dict[Hashable, Clue] = {}
        """What rank tables list, whichever of them."""
        self._most, self._parts, self._kept = _MOST_OF_A_GROUP, _PARTS_OF_A_KEY, 0

    def add(self, source: str, rows: list[Row]) -> None:
        """Add the rows of a log."""
        whose = []
        for row in filter(tells_whose, rows):
            if "listed" not in row.values:
                whose.append(row)
            elif len(self._listed) < _MOST_TOGETHER:
                _keep_first(self._listed, row)
        key = _key(source, whose)[: self._parts]
        if key in self._groups:
            self._kept -= self._groups[key].size
        group = self._groups.setdefault(key, _LogsAlike())
        group.add(source, rows, whose)
        self._kept += group.keep_first(self._most, self._is_benign)
        while self._kept > _MOST_TOGETHER and self._parts:
            self._keep_fewer()

    def _keep_fewer(self) -> None:
        """Fewer rows of each group; where each has only one left, larger groups: all logs of a rank, of a host."""
        if self._most > 1:
            self._most //= 2
        else:
            self._parts -= 1
            groups, self._groups = self._groups, {}
            for key, group in groups.items():
                self._groups.setdefault(key[: self._parts], _LogsAlike()).join(group)
        self._kept = sum(group.keep_first(self._most, self._is_benign) for group in self._groups.values())

    def rows(self) -> Iterator[Row]:
        """What is left."""
        yield from self._listed.values()
        for group in self._groups.values():
            yield from group.rows()


class _LogsAlike:
    """A group of logs."""

    __slots__ = ("_read", "_sources", "_told", "_whose")

    def __init__(self) -> None:
        self._sources: set[int] = set()
        """Hashes of their names: a log that comes again is not counted again."""
        self._read: dict[str, SourceSummary] = {}
        self._told: dict[Hashable, Observation | Clue] = {}
        """Faults and clues."""
        self._whose: dict[str, dict[Hashable, Clue]] = {}
        """What each log that is still named says of whose it is."""

    @property
    def size(self) -> int:
        """Rows that are kept, and the group itself, which takes as much as one."""
        return 1 + len(self._read) + len(self._told) + sum(map(len, self._whose.values()))

    def add(self, source: str, rows: list[Row], whose: list[Clue]) -> None:
        """Add the rows of a log."""
        for clue in whose:
            _keep_first(self._whose.setdefault(source, {}), clue)
        for row in rows:
            if not isinstance(row, SourceSummary):
                if not tells_whose(row):
                    _keep_first(self._told, row)
            elif hash(source) not in self._sources:
                self._sources.add(hash(source))
                self._sum(row)

    def join(self, other: _LogsAlike) -> None:
        """Add another group's logs."""
        self._sources |= other._sources
        self._whose |= other._whose
        for summary in other._read.values():
            self._sum(summary)
        for row in other._told.values():
            _keep_first(self._told, row)

    def _sum(self, row: SourceSummary) -> None:
        self._read[row.skipped] = _sum(row, self._read.get(row.skipped))

    def keep_first(self, most: int, is_benign: Callable[[str], bool]) -> int:
        """Forget all but so many faults and clues, the benign and unsure ones first; the size that is left."""
        if len(self._told) > 2 * most:

            def order(item: tuple[Hashable, Observation | Clue]) -> tuple[object, ...]:
                row = item[1]
                weak = isinstance(row, Observation) and (row.verdict not in CLAIMS or is_benign(row.entry))
                return isinstance(row, Observation), weak, _when(row)

            ordered = sorted(self._told.items(), key=order)
            clues = [item for item in ordered if isinstance(item[1], Clue)]
            self._told = dict([*clues[:most], *ordered[len(clues) :][:most]])
        if len(self._whose) > 2 * (len(self._told) + len(self._read)):
            named = self._named()
            self._whose = {source: whose for source, whose in self._whose.items() if source in named}
        return self.size

    def _named(self) -> set[str]:
        return {row.source for row in chain(self._read.values(), self._told.values())}

    def rows(self) -> Iterator[Row]:
        """What is left; of each log that is still named it is said whose it is."""
        yield from self._read.values()
        yield from self._told.values()
        for source in self._named():
            yield from self._whose.get(source, {}).values()


def tells_whose(row: Row) -> TypeGuard[Clue]:
    """Whether a row says whose a log is, and nothing of what happened."""
    return isinstance(row, Clue) and row.tells in ("member", "lines", "host", "stamp")


def _keep_first(known: dict[Hashable, _FaultOrClue], row: _FaultOrClue) -> None:
    """Keep a row, of those that mean the same the first in time."""
    meaning = _meaning(row)
    known[meaning] = min(row, known.get(meaning, row), key=_when)


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
