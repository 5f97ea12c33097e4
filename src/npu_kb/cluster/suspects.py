"""Whom the other ranks name: who did not report, who left first, whose heartbeat was lost, who does something else."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.observation import Clue
from npu_kb.cluster.times import read_time
from npu_kb.cluster.who import Party, Who

ENTRIES = {
    "cqe": "roce-error-cqe",
    "stuck": "hccl-process-stuck",
    "lost": "hccl-heartbeat-lost",
    "absent": "hccl-root-info-ranks-missing",
    "version": "hccl-versions-differ-between-ranks",
    "differs": "hccl-arguments-inconsistent",
    "collective": "collectives-issued-differ-between-ranks",
}
"""The entry that tells more of what a suspect is named for, where there is one."""
TELL_OF_OTHERS = {*ENTRIES.values(), "mindspore-cluster-topology-timed-out"}
"""Entries of faults that are others' than of those whose logs tell them."""
_REASONS = {"Heartbeat Lost": "lost", "LOST": "lost", "Stuck": "stuck", "STUCK": "stuck"}
_TOGETHER = 30.0
"""Seconds between two heartbeats: who is missed within them fell silent at once."""


class Suspect(NamedTuple):
    """A party that others' logs point at, why, since when (UTC seconds), by whom, and a line that says so."""

    reason: str
    """A key of ENTRIES, or waited-for, silent, no-logs, late or restarted."""
    party: Party
    time: float | None
    by: frozenset[str]
    clue: Clue | None


class Testimony:
    """All that the ranks say of each other."""

    def __init__(self, who: Who, clocks: Clocks, clues: Iterable[Clue]) -> None:
        self._who, self._clocks = who, clocks
        self._clues: dict[str, list[Clue]] = defaultdict(list)
        for clue in sorted(clues, key=lambda clue: (clue.source, clue.line, clue.tells, sorted(clue.values.items()))):
            self._clues[clue.tells].append(clue)
        self._groups = {clue.source: clue.values["group"] for clue in reversed(self._clues["collective"])}
        """The communicator of each source's first failed operation."""

    def suspects(self) -> list[Suspect]:
        """Who is named by the surest kind of testimony that there is, the first in time first."""
        kinds = (self._accused, self._absent, self._odd_ones, self._waited_for)
        return next((found for kind in kinds if (found := merged_hosts(self._who, kind()))), [])

    def _accused(self) -> list[Suspect]:
        """Named with server and device by heartbeats and link errors; what came later follows from the first."""
        named = [self._suspect(clue, _reason(clue), self._at(clue)) for clue in self._clues["accuses"]]
        together = _joined(named)
        times = [suspect.time for suspect in together if suspect.time is not None]
        if not times:
            return together
        until = min(times) + _TOGETHER
        return [s for s in together if s.time is not None and s.time <= until]

    def _absent(self) -> list[Suspect]:
        """Ranks that are in nobody's list of the connected."""
        named = [
            missed._replace(party=self._who.rank(rank).without_process)
            for clue in self._clues["missing"]
            for missed in [self._suspect(clue, "absent", Party(""))]
            for rank in set(_numbers(clue.values["ranks"]))
        ]
        if not named and (lists := self._clues["connected"]):
            connected = {rank for clue in lists for rank in _numbers(clue.values["ranks"])}
            absent = sorted(set(range(self._who.world)) - connected)
            named = [self._suspect(lists[0], "absent", self._who.rank(rank)) for rank in absent]
        return _joined(named)

    def _odd_ones(self) -> list[Suspect]:
        """The few that say another version, argument or collective than the many."""
        return [
            *self._fewest("version", lambda clue: ("", clue.values["local"])),
            *self._fewest("differs", lambda clue: (clue.values["what"], clue.values["local"])),
            *self._fewest("collective", lambda clue: (clue.values["group"], clue.values["name"])),
        ]

    def _fewest(self, tells: str, said: Callable[[Clue], tuple[str, str]]) -> list[Suspect]:
        """Those who say of a subject what the fewest say, if others are more; `said` gives subject and value."""
        sayers: dict[str, dict[str, list[Clue]]] = defaultdict(lambda: defaultdict(list))
        for clue in self._clues[tells]:
            subject, value = said(clue)
            sayers[subject][value].append(clue)
        found = []
        for values in sayers.values():
            sizes = {value: len({self._writer(c).name for c in clues}) for value, clues in values.items()}
            fewest = min(sizes.values())
            if len(sizes) > 1 and fewest < max(sizes.values()):
                few = [clue for value in values if sizes[value] == fewest for clue in values[value]]
                others = frozenset(self._writer(c).name for v in values if sizes[v] > fewest for c in values[v])
                found += [self._suspect(clue, tells, self._writer(clue), others) for clue in few]
        return _joined(found)

    def _waited_for(self) -> list[Suspect]:
        """The ends of the chains of waiting: waited for, and waiting for nobody."""
        waits: dict[Party, Clue] = {}
        targets: dict[Party, Party] = {}
        for clue in self._clues["waits"]:
            writer = self._writer(clue).without_process
            target = self._target(clue).without_process
            if target != writer and writer not in targets:
                targets[writer], waits[writer] = target, clue
        named = [
            self._suspect(waits[writer], "waited-for", end) for writer, end in _ends(targets).items() if end != writer
        ]
        joined = _joined(named)
        most = max((len(suspect.by) for suspect in joined), default=0)
        return [suspect for suspect in joined if len(suspect.by) * 4 >= most]

    def _target(self, clue: Clue) -> Party:
        """Who is waited for."""
        if clue.values.keys() >= {"server", "device"}:
            return self._at(clue)
        return self._who.rank(int(clue.values["rank"]), self._groups.get(clue.source, ""))

    def _at(self, clue: Clue) -> Party:
        return self._who.at(clue.values["server"], int(clue.values["device"]))

    def _writer(self, clue: Clue) -> Party:
        return self._who.writer(clue.source, clue.text)

    def _suspect(self, clue: Clue, reason: str, party: Party, by: frozenset[str] | None = None) -> Suspect:
        arrived = read_time(clue.values.get("arrival", ""))
        time = self._clocks.true_time(clue.source, clue.time if arrived is None else arrived)
        return Suspect(reason, party.without_process, time, by or frozenset({self._writer(clue).name}), clue)


def _reason(clue: Clue) -> str:
    return _REASONS.get(clue.values["why"], "cqe")


def _numbers(text: str) -> Iterator[int]:
    return (int(number) for number in re.findall(r"\d+", text))


def _ends(targets: dict[Party, Party]) -> dict[Party, Party]:
    """Where each chain of waiting ends; a circle ends at the one of it that most wait for."""
    waiters = Counter(targets.values())
    ends: dict[Party, Party] = {}
    for start in targets:
        path: dict[Party, None] = {}
        at = start
        while at in targets and at not in ends and at not in path:
            path[at] = None
            at = targets[at]
        if at in path:
            circle = list(path)[list(path).index(at) :]
            at = min(circle, key=lambda party: (-waiters[party], party.name))
        ends.update(dict.fromkeys(path, ends.get(at, at)))
    return ends


def _joined(suspects: Iterable[Suspect]) -> list[Suspect]:
    """One suspect for each reason and party, with all who name it and the first time."""
    groups: dict[tuple[str, Party], list[Suspect]] = defaultdict(list)
    for suspect in suspects:
        groups[suspect.reason, suspect.party].append(suspect)
    joined = [min(group, key=_when)._replace(by=frozenset().union(*(s.by for s in group))) for group in groups.values()]
    return sorted(joined, key=lambda s: (*_when(s), -len(s.by), s.party.order))


def _when(suspect: Suspect) -> tuple[bool, float]:
    return suspect.time is None, suspect.time or 0.0


def merged_hosts(who: Who, suspects: list[Suspect]) -> list[Suspect]:
    """The suspects, with the host in place of its ranks where all of them (at least two) are suspected."""
    on_host = Counter(party.host for party in who.ranks.values())
    groups: dict[tuple[str, str], list[Suspect]] = defaultdict(list)
    for suspect in suspects:
        groups[suspect.party.host, suspect.reason].append(suspect)
    merged: list[Suspect] = []
    for (host, _), group in groups.items():
        same = [suspect for suspect in group if suspect.party.rank is not None]
        if host and len(same) >= 2 and len(same) == on_host[host] and len(on_host) > 1:
            by = frozenset().union(*(s.by for s in same)) - {s.party.name for s in same}
            merged.append(same[0]._replace(party=Party(host), by=by))
        else:
            merged += group
    return _joined(merged)
