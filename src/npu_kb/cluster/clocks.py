"""Clocks of hosts that differ: seen at moments which all ranks of a group reach together, and corrected."""

from __future__ import annotations

from calendar import timegm
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import cached_property
from statistics import median
from time import gmtime
from typing import NamedTuple, TypeGuard

from npu_kb.cluster.observation import Clue, Row
from npu_kb.cluster.times import Moment
from npu_kb.cluster.who import Who

_LEAST = 2.0
"""Seconds; a smaller difference is the time that a communicator takes to set up."""
_TOO_LATE = 4_102_444_800
"""The year 2100."""


class ClockDifference(NamedTuple):
    """A host's clock against that of the others: seconds that it is ahead, and by how many ranks that is told."""

    host: str
    seconds: float
    ranks: int


class Clocks:
    """Turns times as logs tell them into times of one clock."""

    def __init__(self, who: Who, clues: Iterable[Clue]) -> None:
        clues = list(clues)
        self._hosts = {source: party.host for source, party in who.parties.items()}
        self._stamps = {clue.source: clue.values for clue in clues if clue.tells == "stamp"}
        self._zones = self._host_zones()
        self._usual_time = self._time_with_year(clues)
        self._offsets: dict[str, float] = {}
        self.differences = self._differences([clue for clue in clues if "barrier" in clue.values])
        self._offsets = {difference.host: difference.seconds for difference in self.differences}

    @classmethod
    def of(cls, rows: Iterable[Row]) -> Clocks:
        """The clocks of all hosts of which there are rows."""
        rows = list(rows)
        clues = [row for row in rows if isinstance(row, Clue)]
        return cls(Who(sorted({row.source for row in rows}), clues), clues)

    @property
    def zone(self) -> int | None:
        """The zone (seconds east of UTC) of all logs, where some name it and none another; else None."""
        zones = self._zones_of_logs
        return min(zones) if len(zones) == 1 else None

    @property
    def zones_differ(self) -> bool:
        """Whether logs are of several zones."""
        return len(self._zones_of_logs) > 1

    @cached_property
    def _zones_of_logs(self) -> set[int]:
        """Those that logs name or share with others; none where no log names one."""
        named = {source: stamp["zone"] for source, stamp in self._stamps.items()}
        if set(named.values()) <= {"none"}:
            return set()
        hosts = self._hosts
        return {
            self._zone_of_host(hosts.get(source, "")) if zone == "none" else int(zone) for source, zone in named.items()
        }

    def true_time(self, source: str, time: float | None) -> float | None:
        """UTC seconds of the common clock; None for a time that no log has."""
        if not _is_plausible(time):
            return None
        host, stamp = self._hosts.get(source, ""), self._stamps.get(source, {})
        return self._in_year(stamp, time) - self._zone(host, stamp, time) - self._offsets.get(host, 0.0)

    def _zone(self, host: str, stamp: dict[str, str], time: float) -> int:
        """Seconds that are still to be taken off a time: those of its log's zone or of its host's, if it names none."""
        own = stamp.get("zone", "none")
        if own == "none":
            return self._zone_of_host(host)
        return int(own) if isinstance(time, Moment) and time.zone is None else 0

    def _zone_of_host(self, host: str) -> int:
        return self._zones.get(host, self._zones.get("", 0))

    def _in_year(self, stamp: dict[str, str], time: float) -> float:
        """The time in the year that brings it nearest to logs that name theirs, where its own log names none."""
        usual = self._usual_time
        if stamp.get("year") != "none" or usual is None:
            return time
        moment, year = gmtime(time), gmtime(usual).tm_year
        times = (timegm((year + step, *moment[1:6])) + time % 1 for step in (0, -1, 1))
        return min(times, key=lambda time: abs(time - usual))

    def _time_with_year(self, clues: list[Clue]) -> float | None:
        """The middle one of the first times of logs that name a year."""
        stamps = (clue for clue in clues if clue.tells == "stamp" and clue.values["year"] == "named")
        times = sorted(clue.time for clue in stamps if clue.time is not None and _is_plausible(clue.time))
        return times[len(times) // 2] if times else None

    def _host_zones(self) -> dict[str, int]:
        """{host: seconds east of UTC that its logs name}; under "" what all hosts that name one agree on.

        Logs that name no zone are of the same clock; `Z` alone is the collector's choice and tells nothing of the host.
        """
        votes: dict[str, Counter[int]] = defaultdict(Counter)
        for source, stamp in self._stamps.items():
            if stamp["zone"] not in ("none", "0"):
                votes[self._hosts.get(source, "")][int(stamp["zone"])] += 1
        zones = {host: min(seconds, key=lambda s: (-seconds[s], s)) for host, seconds in votes.items()}
        if len(set(zones.values())) == 1:
            zones.setdefault("", next(iter(zones.values())))
        return zones

    def _differences(self, barriers: list[Clue]) -> list[ClockDifference]:
        """A communicator's set-up ends on all its ranks at once: what a host tells later or earlier is its clock."""
        groups: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for clue in barriers:
            time = self.true_time(clue.source, clue.time)
            if time is not None:
                groups[clue.values.get("group", "")][self._hosts.get(clue.source, "")].append(time)
        ahead: dict[str, list[float]] = defaultdict(list)
        for hosts in groups.values():
            common = _middle({host: median(times) for host, times in hosts.items()})
            for host, times in hosts.items() if len(hosts) > 1 else ():
                ahead[host] += [median(times) - common] * len(times)
        return [
            ClockDifference(host, round(median(seconds), 3), len(seconds))
            for host, seconds in sorted(ahead.items())
            if abs(median(seconds)) >= _LEAST
        ]


def _middle(times: dict[str, float]) -> float:
    """The time of the host in the middle; of two hosts in the middle that of the first by name."""
    order = sorted(times, key=lambda host: (times[host], host))
    return times[min(order[(len(order) - 1) // 2 : len(order) // 2 + 1])]


def _is_plausible(time: float | None) -> TypeGuard[float]:
    return time is not None and 0 <= time < _TOO_LATE
