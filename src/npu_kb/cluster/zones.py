"""A log of which only some lines name a zone: its other lines are in that zone too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from npu_kb.cluster.observation import Clue, Row
from npu_kb.cluster.times import Moment, read_time
from npu_kb.intake.clean import decode

_TIMES = {"time", "last_time", "first_time"}
_CLOCK_WITH_ZONE = re.compile(rb":\d\d(?:[.,]\d{1,9})? ?(?:Z|[+-]\d\d:?\d\d)(?![\d:])")


def in_own_zone(rows: list[Row], texts: Iterable[bytes]) -> list[Row]:
    """The rows of a log with all times in UTC, if a line of its `texts`, or one that a row tells, names its zone."""
    moments = [time for row in rows for time in _moments(row).values()]
    if all(moment.zone is not None for moment in moments):
        return rows
    named = Counter(moment.zone for moment in [*moments, *_moments_with_zone(texts)] if moment.zone is not None)
    if not named:
        return rows
    zone = max(named, key=lambda zone: (zone != 0, named[zone], zone))
    return [_moved(row, zone) for row in rows]


def _moments(row: Row) -> dict[str, Moment]:
    times = {name: getattr(row, name) for name in _TIMES.intersection(row._fields)}
    return {name: time for name, time in times.items() if isinstance(time, Moment)}


def _moments_with_zone(texts: Iterable[bytes]) -> Iterator[Moment]:
    for line in b"\n".join(texts).split(b"\n"):
        if _CLOCK_WITH_ZONE.search(line) and (moment := read_time(decode(line))):
            yield moment


def _moved(row: Row, zone: int) -> Row:
    """The row, its times without a zone taken for times of this one."""
    moments = _moments(row)
    moved: dict[str, Any] = {name: time - (zone if time.zone is None else 0) for name, time in moments.items()}
    if isinstance(row, Clue) and row.tells == "stamp":
        moved["values"] = {**row.values, "zone": str(zone)}
    return row._replace(**moved)
