"""A folder of logs keeps those of earlier runs: which logs belong together, told by processes that lived at once."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.gather import tells_whose
from npu_kb.cluster.observation import Row, SourceSummary
from npu_kb.cluster.who import Who

_RESTART = 120.0
"""Seconds between the end of one process and the start of the next that make it the same run, begun again."""
_BEFORE = 600.0
"""Seconds before a run's first line that count to it: what the hosts' own logs tell."""


class Run(NamedTuple):
    """Processes whose logs overlap in time, and the time (UTC seconds) that is theirs: up to the next run."""

    sources: frozenset[str]
    start: float
    end: float


def runs_of(rows: list[Row], who: Who, clocks: Clocks) -> list[Run]:
    """The runs, the last one first; none where no log is of a single process."""
    groups: list[list[_Life]] = []
    latest = float("-inf")
    for life in sorted(_lives(rows, who, clocks)):
        if life.start > latest + _RESTART:
            groups.append([])
        groups[-1].append(life)
        latest = max(latest, life.end)
    runs: list[Run] = []
    end = float("inf")
    for group in reversed(groups):
        start = group[0].start
        runs.append(Run(frozenset(source for life in group for source in life.sources), start, end))
        end = start - _BEFORE
    return runs


class _Life(NamedTuple):
    """From a process's first line to its last, and its logs."""

    start: float
    end: float
    sources: tuple[str, ...]


def _lives(rows: list[Row], who: Who, clocks: Clocks) -> Iterator[_Life]:
    times: dict[tuple[str, int], list[float]] = defaultdict(list)
    sources: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in rows:
        if isinstance(row, SourceSummary) and (pid := who.parties[row.source].pid) is not None:
            process = who.parties[row.source].host, pid
            known = (clocks.true_time(row.source, time) for time in (row.first_time, row.last_time))
            times[process] += [time for time in known if time is not None]
            sources[process].append(row.source)
    for process, moments in times.items():
        if moments:
            yield _Life(min(moments), max(moments), tuple(sources[process]))


def rows_by_run(rows: Iterable[Row], runs: list[Run], clocks: Clocks) -> tuple[list[list[Row]], list[Row]]:
    """The rows of each of the runs, those of its own logs and of its time; and those that may be of any run."""
    numbers = {source: number for number, run in enumerate(runs) for source in run.sources}
    starts = [run.start - _BEFORE for run in reversed(runs)]
    found: list[list[Row]] = [[] for _ in runs]
    everywhere: list[Row] = []
    for row in rows:
        time = None if isinstance(row, SourceSummary) or tells_whose(row) else clocks.true_time(row.source, row.time)
        of_time = len(runs) - bisect_right(starts, time) if time is not None else None
        number = numbers.get(row.source, of_time)
        if number is None:
            everywhere.append(row)
        elif number < len(runs):
            found[number].append(row)
    return found, everywhere
