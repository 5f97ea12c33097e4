"""A fault of a cluster, and faults that are one: told of one party at once, by entries that belong together."""

from __future__ import annotations

from typing import NamedTuple

from npu_kb.cluster.events import Entries, Event
from npu_kb.cluster.observation import Clue
from npu_kb.cluster.who import Party
from npu_kb.diagnosis.model import VERDICTS

_AT_ONCE = 1.0
"""Seconds."""
_MOST = 200
"""Faults that are compared, each with each."""


class Fault(NamedTuple):
    """A fault that no other one explains: what, whose, since when, told by which events, named by whom."""

    entry: str
    """Empty where nothing in the logs says what happened to the party."""
    reason: str
    """The suspect's reason; empty where the party's own log tells the fault and nobody names it."""
    parties: tuple[Party, ...]
    time: float | None
    verdict: str
    events: tuple[Event, ...]
    named_by: frozenset[str]
    clue: Clue | None
    outlived: bool = False
    """Whether its parties still waited for others a good while later."""
    without_logs: bool = False
    """Whether others only wait for its party and there are no logs that tell why: it may wait for another one too."""
    unheard: bool = False
    """Whether others wait for its party, and lines of its logs may be missing."""
    raised: Clue | None = None
    """The last exception that a suspect's own log tells, where it tells no known fault."""
    beside: tuple[str, ...] = ()
    """Entries that tell the same fault less exactly."""


def told_once(faults: list[Fault], entries: Entries) -> list[Fault]:
    """The faults without those that tell another one less exactly; they stand beside it."""

    def exact_first(fault: Fault) -> tuple[object, ...]:
        shapes = len(entries.get(fault.entry).get("match", ())) if fault.entry else 0
        return VERDICTS.index(fault.verdict), shapes, fault.entry, fault.parties[0].order

    if len(faults) > _MOST:
        return faults
    told: list[tuple[dict[Party, Event], Fault]] = []
    for fault in sorted(faults, key=exact_first):
        firsts = _first_of_each(fault)
        same = next((n for n, (exact, _) in enumerate(told) if _is_same(firsts, exact, entries)), None)
        if same is None:
            told.append((firsts, fault))
        else:
            told[same] = (told[same][0], _with_beside(told[same][1], fault))
    return [fault for _, fault in told]


def _first_of_each(fault: Fault) -> dict[Party, Event]:
    """The first event of each party of a fault."""
    return {event.party.without_process: event for event in reversed(fault.events)}


def _is_same(firsts: dict[Party, Event], exact: dict[Party, Event], entries: Entries) -> bool:
    """Whether a fault began on each of its parties when the other one did, and belongs to it."""
    return bool(firsts) and all(
        party in exact and _at_once(event, exact[party]) and _belong_together(event, exact[party], entries)
        for party, event in firsts.items()
    )


def _belong_together(one: Event, other: Event, entries: Entries) -> bool:
    entry, exact = one.observation.entry, other.observation.entry
    return _names(entry, exact, entries) or _names(exact, entry, entries) or _stand_together(one, other)


def _names(entry: str, other: str, entries: Entries) -> bool:
    known = entries.get(entry)
    return other in (*known.get("related", ()), *known["causes"])


def _at_once(one: Event, other: Event) -> bool:
    return one.time is not None and other.time is not None and abs(one.time - other.time) <= _AT_ONCE


def _stand_together(one: Event, other: Event) -> bool:
    """Whether both are told by the same or neighbouring lines."""
    return one.observation.source == other.observation.source and abs(one.observation.line - other.observation.line) < 2


def _with_beside(exact: Fault, fault: Fault) -> Fault:
    """The more exact fault with another one beside it; whoever names the one names the other."""
    return exact._replace(
        reason=exact.reason or fault.reason,
        time=min(event.time for event in (*exact.events, *fault.events) if event.time is not None),
        events=exact.events + fault.events,
        named_by=exact.named_by | fault.named_by,
        clue=exact.clue or fault.clue,
        beside=(*exact.beside, fault.entry),
    )
