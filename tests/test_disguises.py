"""What launchers, collectors and terminals do to a log does not change its first answer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from npu_kb import Knowledge, diagnose


def prefixed(prefix: str) -> Callable[[str], str]:
    return lambda text: "".join(f"{prefix}{line}\n" for line in text.splitlines())


def wrapped(width: int) -> Callable[[str], str]:
    def cut(text: str) -> str:
        lines = text.splitlines()
        return "\n".join(line[at : at + width] for line in lines for at in range(0, max(len(line), 1), width))

    return cut


HEALTHY = "".join(f"10:{n:02d}:00 step {n} of 60, loss 2.{n}\n" for n in range(60))

DISGUISES: dict[str, Callable[[str], str | bytes]] = {
    "vllm": prefixed("(EngineCore_DP0 pid=4242) "),
    "ray": prefixed("(RayWorkerWrapper pid=991, ip=10.1.2.3) "),
    "rank": prefixed("[rank3]: "),
    "kubernetes": prefixed("2025-11-02T10:00:00.123456789Z stderr F "),
    "journald": prefixed("Nov 02 10:00:00 node-7 python[4711]: "),
    "docker compose": prefixed("serving-1  | "),
    "colours": lambda text: "".join(f"\x1b[0;31m{line}\x1b[0m\n" for line in text.splitlines()),
    "quote": prefixed("> "),
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "wrap at 80": wrapped(80),
    "wrap at 120": wrapped(120),
    "healthy lines around": lambda text: HEALTHY + text + "\n" + HEALTHY,
    "gb18030": lambda text: ("故障日志\n" + text).encode("gb18030", "replace"),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_entries_are_found_under_a_disguise(knowledge: Knowledge, name: str) -> None:
    """Every thirteenth entry, another thirteenth for each disguise; 98% must keep their first answer."""
    turn = list(DISGUISES).index(name)
    entries = [entry for entry in knowledge.entries() if entry["match"]][turn :: len(DISGUISES)]
    plain, disguised = (
        {entry["id"]: first(change(entry["samples"]["hit"][0]), knowledge) for entry in entries}
        for change in (str, DISGUISES[name])
    )
    changed = {id: (plain[id], disguised[id]) for id in plain if plain[id] != disguised[id]}
    assert len(changed) <= 0.02 * len(entries) + 1, changed


def first(log: str | bytes, knowledge: Knowledge) -> str | None:
    matches = diagnose(log, knowledge, suggest=False).matches
    return matches[0].entry["id"] if matches else None


def test_two_joined_logs_are_both_answered(knowledge: Knowledge) -> None:
    entries = [e for e in knowledge.entries() if e["role"] == "root" and e["severity"] == "fault" and e["match"]][::29]
    lost = []
    for one, other in pairwise(entries):
        logs = [entry["samples"]["hit"][0] for entry in (one, other)]
        wanted = {m.entry["id"] for log in logs for m in diagnose(log, knowledge, suggest=False).claims[:1]}
        claims = [m.entry["id"] for m in diagnose("\n".join(logs), knowledge, suggest=False).claims[:3]]
        lost += [] if wanted <= set(claims) else [(one["id"], other["id"], claims)]
    assert len(lost) <= 0.02 * len(entries) + 1, lost
