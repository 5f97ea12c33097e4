"""What single lines tell of ranks: who wrote the log, whom a rank waits for, whom it accuses, what it does otherwise.

The texts are those of HCCL, torch_npu and the kernel; each has a literal, so that a scan for many texts finds them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from npu_kb.cluster.observation import MAX_TEXT, Clue
from npu_kb.cluster.times import read_stamp
from npu_kb.cluster.tracebacks import Tracebacks
from npu_kb.cluster.writers import Writers, label_of, rank_of

_MEMBER = (
    r"(?:rankNum|ranks|totalRanks)\[(?P<world>\d{1,6})\], ?rank\[(?P<rank>\d{1,6})\]"
    r"(?:.*?identifier\[(?P<group>[^\]]+))?(?:.*?server\[(?P<server>[^\]%]+))?(?:.*?(?:deviceLogicId|logicDevId|device)\[(?P<device>\d{1,4}))?"
)
_CRIMER = r"(?:crimer rank|: rank) ?\[(?P<server>[^\]/]+)/(?P<device>\d{1,4})\] status\[(?P<why>LOST|STUCK|ERROR CQE)"
_MARKS: list[tuple[str, str, str]] = [
    ("rankNum[", "member", _MEMBER),
    ("Entry-HcclCommInit", "member", _MEMBER),
    (
        "groupRank information",
        "member",
        r"group:\[(?P<group>[^\]]+)\].*?rankSize\[(?P<world>\d+)\], ?rankId\[(?P<rank>\d+)\]",
    ),
    ("RankID:", "member", r"\(PID:(?P<pid>\d+), Device:(?P<device>-?\d+), RankID:(?P<rank>-?\d+)\)"),
    ("RANK_ID", "member", r"\bRANK_ID['\"]?[=: ]{1,3}['\"]?(?P<rank>\d{1,6})\b"),
    ("ASCEND_DEVICE_ID", "member", r"\bASCEND_DEVICE_ID['\"]?[=: ]{1,3}['\"]?(?P<device>\d{1,3})\b"),
    (
        "Cluster Exception Location",
        "accuses",
        r"Location\[IP/ID\]:\[(?P<server>[^\]/]+)/(?P<device>\d{1,4})\](?:, Arrival Time:\[(?P<arrival>[^\]]+)\])?.*?"
        r"ExceptionType:\[(?P<why>[A-Za-z ]+?) Occurred\]",
    ),
    ("status[LOST]", "accuses", _CRIMER),
    ("status[STUCK]", "accuses", _CRIMER),
    ("status[ERROR CQE]", "accuses", _CRIMER),
    (
        "Peer information: server",
        "accuses",
        r"Peer information: server (?P<server>[^\s,]+), device ID (?P<device>\d{1,4})(?P<why>)",
    ),
    (
        "fails to connect to dstRank",
        "waits",
        r"dstRank \(server (?P<server>[^\s,]+), device ID (?P<device>\d{1,4})",
    ),
    ("remote rank", "waits", r"remote rank:? ?\[?(?P<rank>\d{1,6})\b"),
    ("eer rank:", "waits", r"peer rank: ?\[?(?P<rank>\d{1,6})\b"),
    ("| time out |", "waits", r"\| +[^\s|(]+\((?P<rank>\d{1,6})\) +\|"),
    ("| no connect |", "waits", r"\| +[^\s|(]+\((?P<rank>\d{1,6})\) +\|"),
    ("Failed to connect agent[", "missing", r"Failed to connect agent\[(?P<ranks>[\d, ]+)\]"),
    ("List of unconnected ranks", "missing", r"unconnected ranks: \"?\[(?P<ranks>[\d, ]+)\]"),
    ("connected rankinfo[LINE", "connected", r"rankinfo\[LINE \d+\]: (?P<ranks>(?:\[\d{1,16}\][,;]?)+)"),
    (
        "base information",
        "collective",
        r"\btag:?\[(?P<name>[A-Z][A-Za-z]+)_(?P<group>[^\],]+)\]",
    ),
    (
        "ersion",
        "version",
        r"(?:local_version|local (?:CANN |HCCL )?version is) \[?(?P<local>[\w.-]*\w)\]?.*?"
        r"(?:remote_version|remote (?:CANN |HCCL )?version is) \[?(?P<remote>[\w.-]*\w)",
    ),
    (
        "inconsistent between ranks",
        "differs",
        r"parameter \[?(?P<what>\w+)\]?.*?(?:local end|local|is) \[?(?P<local>\w+)\]?(?: on the local rank and|,)"
        r"(?: remote end| remote)? \[?(?P<remote>\w+)",
    ),
    (
        "check fail. local[",
        "differs",
        r"information (?P<what>\w+) check fail\. local\[(?P<local>\w+)\], remote\[(?P<remote>\w+)\]",
    ),
    (" kernel: ", "host", r"^(?:[A-Z][a-z]{2} +\d+ [\d:]{8}|\d{4}-\S+T\S+) (?P<host>[\w.-]+) kernel: "),
]
LITERALS: list[str] = [literal for literal, _, _ in _MARKS]
"""One of these stands in each line that holds a clue."""
_PLOG_WRITER = re.compile(r"\[[A-Z]+\] ?[A-Z_]+\((\d{1,9}),")
_MOST_OF_A_KIND = 200
_MOST_TRIES = 5_000


class ClueReader:
    """Collects the clues of one source: each once for a process or rank, at its first line, at most 200 of a kind."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.writers = Writers()
        self.tracebacks = Tracebacks()
        self._clues: dict[tuple[object, ...], Clue] = {}
        self._tries = [_MOST_TRIES] * len(_MARKS)
        self._counts: dict[str, int] = {}

    @property
    def clues(self) -> list[Clue]:
        """What was found so far, in the order of the log."""
        return list(self._clues.values())

    @property
    def all_clues(self) -> list[Clue]:
        """The same, which ranks wrote the lines, and what they raised last."""
        values = self.writers.values
        lines = [Clue(self.source, 1, None, "lines", values, "")] if values else []
        return [*self.clues, *lines, *self.tracebacks.clues(self.source)]

    def read(self, text: str, line: int, time: float | None) -> None:
        """Look for clues in a line (number from 1) that was written at `time` (UTC seconds)."""
        self.writers.look_at([text])
        if "stamp" not in self._counts and (stamp := read_stamp(text)):
            self._keep("stamp", stamp, text, line, time)
        for number, (literal, tells, _) in enumerate(_MARKS):
            if literal in text and self._tries[number]:
                self._tries[number] -= 1
                if found := _regex(number).search(text):
                    self._keep(tells, _values(found, text), text, line, time)

    def _keep(self, tells: str, values: dict[str, str], text: str, line: int, time: float | None) -> None:
        writer = written_by(text), rank_of(text), label_of(text)
        key = (tells, *writer, *(f"{name}={value}" for name, value in sorted(values.items())))
        if key not in self._clues and self._counts.get(tells, 0) < _MOST_OF_A_KIND:
            self._counts[tells] = self._counts.get(tells, 0) + 1
            self._clues[key] = Clue(self.source, line, time, tells, values, text.strip()[:MAX_TEXT])


def written_by(text: str) -> int | None:
    """The process that a line in the format of plogs names as its writer."""
    found = _PLOG_WRITER.search(text[:MAX_TEXT])
    return int(found[1]) if found else None


def clues_in(text: str) -> list[tuple[str, dict[str, str]]]:
    """(kind, values) of each clue in one line."""
    reader = ClueReader("")
    reader.read(text, 1, None)
    return [(clue.tells, clue.values) for clue in reader.clues if clue.tells != "stamp"]


def accused(text: str) -> bool:
    """Whether a line speaks of a fault of someone else than its writer."""
    return any(tells in ("accuses", "missing", "connected", "version", "differs") for tells, _ in clues_in(text))


def _values(found: re.Match[str], text: str) -> dict[str, str]:
    values = {name: value for name, value in found.groupdict().items() if value is not None and value != "-1"}
    if "world" in values and "success" in text:
        values["barrier"] = "1"
    return values


@cache
def _regex(number: int) -> re.Pattern[str]:
    return re.compile(_MARKS[number][2])


_NEEDED = {
    "member": ((),),
    "waits": (("rank",), ("server", "device")),
    "missing": (("ranks",),),
    "connected": (("ranks",),),
    "lines": (("ranks",),),
    "raised": (("error",),),
    "accuses": (("server", "device", "why"),),
    "differs": (("what", "local"),),
    "collective": (("name", "group"),),
    "version": (("local",),),
    "host": (("host",),),
    "stamp": (("zone", "year"),),
}
_NUMBER = re.compile(r"\d{1,9}")
_DIGITS = 16
"""Of a rank in a list of the connected, with its zeros in front."""
_MOST_RANKS = 100_000


def is_sound(clue: Clue) -> bool:
    """Whether a clue holds what clues of its kind hold; one that comes from a file or a rank table may not."""
    values = clue.values
    enough = any(all(name in values for name in names) for names in _NEEDED.get(clue.tells, ()))
    numbers = all(_NUMBER.fullmatch(values[name]) for name in ("rank", "world", "device", "pid") if name in values)
    listed_ranks = re.findall(r"\d+", values.get("ranks", ""))
    numbers = numbers and all(len(rank) <= _DIGITS and int(rank) <= _MOST_RANKS for rank in listed_ranks)
    zone = re.fullmatch(r"none|-?\d{1,6}", values.get("zone", "none"))
    listed = "listed" not in values or all(name in values for name in ("rank", "device", "server"))
    plain = all(value.isprintable() for value in values.values())
    return bool(enough and numbers and zone and listed and plain) and all(
        int(values.get(name, 0)) <= _MOST_RANKS for name in ("rank", "world")
    )


def rank_table_clues(source: str, text: str) -> list[Clue]:
    """The ranks that a rank table (hccl.json of version 1.0 or 1.2) lists; none if the text is no such table."""
    try:
        table = json.loads(text)
        clues = [Clue(source, 1, None, "member", values, "") for values in _table_members(table)]
        return [clue for clue in clues if is_sound(clue)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def _table_members(table: dict[str, Any]) -> Iterator[dict[str, str]]:
    servers = table.get("server_list")
    members = [
        {"rank": device["rank_id"], "device": device["device_id"], "server": server["server_id"]}
        for server in (servers if servers is not None else [])
        for device in server["device"]
    ] or [
        {"rank": instance["rank_id"], "device": device["device_id"], "server": instance["server_id"]}
        for group in table.get("group_list", [])
        for instance in group["instance_list"]
        for device in instance["devices"]
    ]
    for member in members:
        yield {"world": str(len(members)), "listed": "1", **{name: str(value) for name, value in member.items()}}
