"""Observations as events: when on one clock, whose, and whether they are a cause or follow from one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.clues import accused
from npu_kb.cluster.observation import Observation
from npu_kb.cluster.suspects import TELL_OF_OTHERS
from npu_kb.cluster.who import Party, Who
from npu_kb.knowledge.base import Knowledge

_SLACK = 5.0
"""Seconds by which a cause may be logged after its effect."""


class Event(NamedTuple):
    """An entry seen in a source: when (UTC seconds, one clock for all), whose log, and as what."""

    time: float | None
    party: Party
    part: str
    """root; effect: of a root on the same party; waiting: for another party; testimony: of another party; wrapper."""
    severity: str
    observation: Observation

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from other events."""
        return self.observation.source, self.observation.line, self.observation.entry


class Entries:
    """Role, severity and effects of entries, looked up once."""

    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._known: dict[str, dict[str, Any]] = {}

    def get(self, id: str) -> dict[str, Any]:
        """The entry; one that this knowledge does not have (a colleague's own) is taken for a cause."""
        if id not in self._known:
            unknown = {"id": id, "role": "root", "severity": "fault", "layer": "", "causes": []}
            self._known[id] = self._knowledge.entry(id) or unknown
        return self._known[id]

    def is_benign(self, id: str) -> bool:
        """Whether what the entry tells of is safe to ignore."""
        return bool(self.get(id)["severity"] == "benign")

    def effects(self, cause: str) -> list[str]:
        """The entries that an entry brings about, and not the other way round as well."""
        return [effect for effect in self.get(cause)["causes"] if cause not in self.get(effect)["causes"]]


def event_of(row: Observation, who: Who, clocks: Clocks, entries: Entries) -> Event:
    """The event that an observation tells of."""
    entry = entries.get(row.entry)
    time = clocks.true_time(row.source, row.time)
    return Event(time, who.writer(row.source, row.text), _part(entry, row.text), entry["severity"], row)


def _part(entry: dict[str, Any], text: str) -> str:
    if entry["role"] == "follow-on":
        return "waiting" if entry["layer"] in ("communication", "serving") else "effect"
    return (
        "testimony"
        if entry["role"] == "root" and (entry["id"] in TELL_OF_OTHERS or accused(text))
        else str(entry["role"])
    )


def unexplained(events: list[Event], every: list[Event], entries: Entries) -> list[Event]:
    """Without those that another event, no later, brings about.

    That is a root that `causes` it on the same host; for an effect, any root or waiting of the same party.
    """
    roots: dict[str, dict[str, float | None]] = defaultdict(dict)
    parties: dict[Party, float | None] = {}
    for event in every:  # in the order of time: the first one of each is kept
        if event.part == "root":
            roots[event.party.host].setdefault(event.observation.entry, event.time)
        if event.part in ("root", "waiting"):
            parties.setdefault(event.party.without_process, event.time)

    causes: dict[tuple[str, str], list[float | None]] = defaultdict(list)
    for host, of_host in roots.items():
        for cause, time in of_host.items():
            for effect in entries.effects(cause):
                causes[host, effect].append(time)

    def explained(event: Event) -> bool:
        party = event.party.without_process
        if event.part == "effect" and party in parties and not_after(parties[party], event.time):
            return True
        return any(not_after(time, event.time) for time in causes[event.party.host, event.observation.entry])

    return [event for event in events if not explained(event)]


def not_after(one: float | None, other: float | None) -> bool:
    """Whether one time is no later than another, or may be; causes are logged up to 5 seconds after their effects."""
    return one is None or other is None or one <= other + _SLACK
