"""Whose log is it? Rank, device, host and process, from names, from what logs say, and from rank tables."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from npu_kb.cluster.clues import written_by
from npu_kb.cluster.names import PathNames, local_rank, names_of_all
from npu_kb.cluster.observation import Clue
from npu_kb.cluster.writers import label_of, rank_of


class Party(NamedTuple):
    """Who does or suffers something: a rank, or where none is known a device, a process or a whole host."""

    host: str
    device: int | None = None
    rank: int | None = None
    pid: int | None = None

    @property
    def name(self) -> str:
        """`rank 3`, `node7 device 3`, `node7 process 1234` or `node7`."""
        known = (("rank", self.rank), ("device", self.device), ("process", self.pid))
        of_host = next((f"{kind} {number}" for kind, number in known if number is not None), "")
        return of_host if self.rank is not None else f"{self.host} {of_host}".strip()

    @property
    def order(self) -> tuple[object, ...]:
        """Ranks by their numbers, before others by host, whose name may hold numbers as well."""
        rank, device, pid = (-1 if number is None else number for number in (self.rank, self.device, self.pid))
        return self.rank is None, rank, natural(self.host), self.host, device, pid

    @property
    def without_process(self) -> Party:
        """The same whatever its process is: a rank or a device may have had several."""
        return self if self.rank is None and self.device is None else self._replace(pid=None)


@lru_cache(maxsize=10_000)
def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """What sorts names by the numbers in them: node2 before node10."""
    parts = re.findall(r"([0-9]{1,18})|([^0-9]+)", name)
    return tuple((0, int(number), "") if number else (1, 0, word) for number, word in parts)


_RANK_WORDS = re.compile(r"\[Rank (\d+)\]")
"""May be of a group of ranks, and is not said by each line."""
_KILLED = re.compile(r"[Kk]ill(?:ed)? process (\d+)")
_DEVICE_WORDS = re.compile(r"(?i)\b(?:device|dev|npu|phy|card)[-_ ]?(?:id)?[\s:=(\[]{1,2}(\d{1,2})\b")


class Who:
    """The parties of a cluster, as all its sources and clues together tell them."""

    def __init__(self, sources: Iterable[str], clues: Iterable[Clue]) -> None:
        clues = list(clues)
        self._names = names_of_all(sources)
        self._said_hosts = {clue.source: clue.values["host"] for clue in clues if clue.tells == "host"}
        members = [clue for clue in clues if clue.tells == "member"]
        self._listed = [clue.values for clue in members if "listed" in clue.values]
        told = [clue for clue in members if "listed" not in clue.values]
        self._own = _own_member_clues(told)
        self._joined = _ranks_of_processes(told, self._names)
        self._lines = _ranks_of_lines(clues)
        """The ranks that the lines of a source name as their writers."""
        self._labelled = {clue.source for clue in clues if clue.tells == "lines" and "labels" in clue.values}
        self._mixed = _sources_of_several_ranks(told, self._names) | {source for source, _ in self._joined}
        self._mixed |= {s for s, ranks in self._lines.items() if len(ranks) > 1 and self._names[s].pid is None}
        self._group_ranks = {
            (clue.values["group"], int(clue.values["rank"])): clue
            for clue in told
            if "group" in clue.values and "rank" in clue.values
        }
        self._local_ranks = self._local_ranks_of_one_host()
        self._hosts = self._server_hosts()
        self.parties = {source: self._party(source) for source in self._names}
        self._shared = {
            rank: source
            for source, ranks in self._lines.items()
            for rank in ranks
            if source in self._mixed or self.parties[source].rank is None
        }
        """{rank: a source in which lines of it stand beside others}"""
        self.ranks = self._by_rank()
        """The parties with a rank of which there are logs or which a rank table lists."""
        self.world = self._world([*members, *(clue for clue in clues if clue.tells == "waits")])
        """How many ranks the job has; 0 where nothing tells."""
        self._at = {(p.host, p.device): p for p in self.ranks.values() if p.device is not None}
        self._share_ranks()
        self.apart = {party.rank for party in self.parties.values() if party.rank is not None}
        """The ranks that have logs of their own, so that it is known what they do not say."""
        self.logged = self.apart | set(self._joined.values()) | self._shared.keys()
        """The ranks of which there are logs, their own or joined with those of others."""
        self._pids = {(p.host, p.pid): p for p in self.parties.values() if p.pid is not None}

    def role(self, source: str) -> str:
        """worker, device, host, scheduler, mindie, vllm, or nothing."""
        return self._names[source].role

    def writer(self, source: str, text: str = "") -> Party:
        """Whom a line is of: the rank, process or device that its words name where its source is not of one rank."""
        party = self.parties[source]
        if party.rank is not None and source not in self._mixed:
            return party
        if (rank := self._rank_of_line(source, text)) is not None:
            return self.rank(rank)
        if party.rank is not None:
            return party
        if found := _RANK_WORDS.search(text):
            return self.rank(int(found[1]))
        if found := _KILLED.search(text):
            return self._pids.get((party.host, int(found[1])), party)
        if party.device is None and party.pid is None and (found := _DEVICE_WORDS.search(text)):
            return self.at(party.host, int(found[1]))
        return party

    def _rank_of_line(self, source: str, text: str) -> int | None:
        """The rank that a line names as its writer, by its process, prefix or label."""
        label = label_of(text) if source in self._labelled else None
        of_process = self._joined.get((source, written_by(text)))
        named = of_process if of_process is not None else rank_of(text)
        return label[1] if named is None and label else named

    def rank(self, number: int, group: str = "") -> Party:
        """The party of a rank: of a group, where one of that number told its group, else of the world."""
        if clue := self._group_ranks.get((group, number)):
            return self.writer(clue.source, clue.text)
        return self.ranks.get(number, Party("", None, number))

    def at(self, server: str, device: int) -> Party:
        """The party on a device of a server (address or host name)."""
        host = self._hosts.get(server, server)
        return self._at.get((host, device), Party(host, device))

    def _host(self, source: str) -> str:
        return self._names[source].host or self._said_hosts.get(source, "")

    def _rank(self, source: str) -> int | None:
        said = self._said_rank(source)
        return next(
            (rank for rank in (said, self._names[source].rank) if rank is not None), self._local_ranks.get(source)
        )

    def _said_rank(self, source: str) -> int | None:
        """The rank that a source of one rank says to be."""
        if source in self._mixed:
            return None
        if (said := self._own.get(source, {}).get("rank")) is not None:
            return int(said)
        return min(self._lines[source]) if source in self._lines and local_rank(source) is not None else None

    def _local_ranks_of_one_host(self) -> dict[str, int]:
        """{source: local rank} of torchrun's logs, if they are of one host and no rank there says another number."""
        local = {source: rank for source in self._names if (rank := local_rank(source)) is not None}
        are_ranks = all(self._said_rank(source) in (None, rank) for source, rank in local.items())
        return local if are_ranks and len({self._host(source) for source in local}) == 1 else {}

    def _server_hosts(self) -> dict[str, str]:
        """{address of a server: its host}, by the folders of those who say, or are listed, to be on it."""
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        host_of_rank = {
            rank: host
            for source in self._names
            if (host := self._host(source)) and (rank := self._rank(source)) is not None
        }
        for source, values in self._own.items():
            if "server" in values and (host := self._host(source)):
                votes[values["server"]][host] += 1
        for values in self._listed:
            if host := host_of_rank.get(int(values["rank"]), ""):
                votes[values["server"]][host] += 1
        return {server: min(hosts, key=lambda host: (-hosts[host], host)) for server, hosts in votes.items()}

    def _party(self, source: str) -> Party:
        names, values = self._names[source], self._own.get(source, {})
        server = values.get("server", "")
        return Party(
            self._host(source) or self._hosts.get(server, server),
            names.device if names.device is not None or source in self._mixed else _number(values.get("device")),
            self._rank(source),
            names.pid if names.pid is not None or source in self._mixed else _number(values.get("pid")),
        )

    def _by_rank(self) -> dict[int, Party]:
        ranks: dict[int, Party] = {}
        for values in self._listed:
            host = self._hosts.get(values["server"], values["server"])
            ranks[int(values["rank"])] = Party(host, int(values["device"]), int(values["rank"]))
        for party in sorted(self.parties.values(), key=str):
            if party.rank is not None:
                ranks[party.rank] = _fuller(ranks.get(party.rank, party), party)
        for (source, _), rank in self._joined.items():
            ranks.setdefault(rank, Party(self.parties[source].host, None, rank))
        for rank, source in self._shared.items():
            ranks.setdefault(rank, Party(self.parties[source].host, None, rank))
        return ranks

    def _world(self, clues: list[Clue]) -> int:
        sizes = [int(clue.values["world"]) for clue in clues if "world" in clue.values]
        waited_for = [int(clue.values["rank"]) for clue in clues if clue.tells == "waits" and "rank" in clue.values]
        return max([*sizes, *(rank + 1 for rank in (*waited_for, *self.ranks))], default=0)

    def _share_ranks(self) -> None:
        """Give the sources of a process or device whose rank or device another source tells those."""
        processes = [party for party in self.parties.values() if party.pid]
        ranks = {(party.host, party.pid): party.rank for party in processes if party.rank is not None}
        devices = {(party.host, party.pid): party.device for party in processes if party.device is not None}
        for source, party in self.parties.items():
            rank = party.rank if party.rank is not None else ranks.get((party.host, party.pid))
            if party.device is None:
                party = self.parties[source] = party._replace(device=devices.get((party.host, party.pid)))
            if rank is None and party.device is not None and (known := self._at.get((party.host, party.device))):
                rank = known.rank
            if rank is not None:
                self.parties[source] = self.ranks[rank]._replace(pid=party.pid)


def _own_member_clues(told: list[Clue]) -> dict[str, dict[str, str]]:
    """{source: what it says of its own rank}: the words of its largest group, filled up from the others."""
    own: dict[str, dict[str, str]] = {}
    for clue in sorted(told, key=lambda clue: (clue.source, *_weight(clue))):
        own[clue.source] = {**own.get(clue.source, {}), **clue.values}
    return own


def _weight(clue: Clue) -> tuple[object, ...]:
    values = clue.values
    return "rank" in values, int(values.get("world", 0)), -clue.line, sorted(values.items())


def _ranks_of_processes(told: list[Clue], names: dict[str, PathNames]) -> dict[tuple[str, int | None], int]:
    """{(source, process): rank} of sources in which logs of several ranks are joined; ranks of the largest group."""
    worlds: dict[str, int] = defaultdict(int)
    ranks: dict[str, dict[int, int]] = defaultdict(dict)
    for clue in sorted(told, key=_weight, reverse=True):
        process, world = written_by(clue.text), int(clue.values.get("world", 0))
        if process is not None and "rank" in clue.values and names[clue.source].pid is None:
            worlds[clue.source] = max(world, worlds[clue.source])
            if world == worlds[clue.source]:
                ranks[clue.source].setdefault(process, int(clue.values["rank"]))
    return {
        (source, process): rank
        for source, of_processes in ranks.items()
        if len(set(of_processes.values())) > 1
        for process, rank in of_processes.items()
    }


def _ranks_of_lines(clues: list[Clue]) -> dict[str, set[int]]:
    """{source: the ranks that its lines name as their writers}"""
    ranks: dict[str, set[int]] = defaultdict(set)
    for clue in clues:
        if clue.tells == "lines":
            ranks[clue.source].update(map(int, re.findall(r"\d+", clue.values["ranks"])))
    return {source: of_lines for source, of_lines in ranks.items() if of_lines}


def _sources_of_several_ranks(told: list[Clue], names: dict[str, PathNames]) -> set[str]:
    ranks: dict[str, set[str]] = defaultdict(set)
    for clue in told:
        if "rank" in clue.values and "group" not in clue.values and names[clue.source].pid is None:
            ranks[clue.source].add(clue.values["rank"])
    return {source for source, several in ranks.items() if len(several) > 1}


def _fuller(known: Party, party: Party) -> Party:
    device = known.device if known.device is not None else party.device
    return Party(party.host or known.host, device, known.rank)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None
