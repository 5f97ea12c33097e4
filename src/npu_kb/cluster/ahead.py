"""A cause that is told hours after those who waited for it: the clock of its log, or its zone, is another."""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil
from typing import NamedTuple

from npu_kb.cluster.events import Event
from npu_kb.cluster.faults import Fault

_LONGEST_WAIT = 1_900.0
"""Seconds after which ranks give up waiting for others, unless they are told to wait longer."""
_HOUR, _MOST_HOURS = 3_600, 14


class Ahead(NamedTuple):
    """A log whose times seem to be so many hours ahead of those of the others."""

    source: str
    hours: int


def seems_ahead(faults: Iterable[Fault], events: Iterable[Event]) -> Ahead | None:
    """The log of the first cause, if others gave up waiting nearly whole hours before; a cause comes before that."""
    causes = [event for fault in faults for event in fault.events]
    first = min(((event.time, event.observation.source) for event in causes if event.time is not None), default=None)
    waits = [event.time for event in events if event.part == "waiting" and event.time is not None]
    if not first or not waits or first[0] <= max(waits):
        return None
    lies_behind = first[0] - min(waits)
    hours = ceil(lies_behind / _HOUR)
    whole = hours * _HOUR - lies_behind <= _LONGEST_WAIT
    return Ahead(first[1], hours) if whole and hours <= _MOST_HOURS else None
