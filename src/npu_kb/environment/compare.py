"""Where two snapshots differ: machine against machine, before against after, container against host."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npu_kb.environment.pseudonyms import without_pseudonyms
from npu_kb.environment.snapshot import Fact, Snapshot, importance

_MOMENTARY = re.compile(
    r"npu\.(?:power_w|\w*temperature_c|\w+_percent|\w+_used_mb|hugepages_used|process_mb|aicore_current_mhz|bus_id)"
    r"|hccn\.(?:optical_\w+|counter|ping_\w+|link_up_count)|host\.(?:disk_percent|memory_available_percent"
    r"|hugepages_free)|asys\.power"
)
"""Facts that differ from minute to minute, or from machine to machine by nature."""


FULL_PERCENT = 90
"""Of a disk, from which on it is nearly full."""
_KINDS = {"host": "limits", "hccn": "network", "npu": "devices", "npu_smi": "devices", "driver": "devices",
          "firmware": "devices", "cann": "devices", "host.pci_npu": "devices", "host.disk_gb": "disks"}  # fmt: skip
"""Under which kind facts are told, by their names or what these begin with."""


class Difference(NamedTuple):
    """What differs: its kind (versions, chips, limits, devices, ...), its name, and what either side says of it."""

    kind: str
    name: str
    first: str | None
    second: str | None


def compare(first: Snapshot, second: Snapshot, momentary: bool = False) -> list[Difference]:
    """All differences, those that explain failures first; `momentary` adds what changes by the minute.

    That an address has changed is seen in snapshots of one machine.
    """
    if first.addresses != second.addresses:
        first, second = _without_pseudonyms(first), _without_pseudonyms(second)
    found = [difference for kind, sides in _sides(first, second) for difference in _differences(kind, *sides)]
    if momentary:
        found += _differences("momentary", *(_facts(side.facts, is_momentary=True) for side in (first, second)))
    return found


def _without_pseudonyms(side: Snapshot) -> Snapshot:
    facts = [
        fact.model_copy(update={"value": without_pseudonyms(fact.value)}) if isinstance(fact.value, str) else fact
        for fact in side.facts
    ]
    settings = {name: without_pseudonyms(value) for name, value in side.environment.items()}
    return side.model_copy(update={"facts": facts, "environment": settings})


def _sides(first: Snapshot, second: Snapshot) -> Iterator[tuple[str, tuple[dict[str, str], dict[str, str]]]]:
    both = (first, second)
    yield "versions", _pair(_versions(side) for side in both)
    yield "chips", _pair(_chips(side) for side in both)
    yield "machine", _pair({"arch": side.arch or "", "container": str(side.container)} for side in both)
    yield "installs", _pair(_installs(side) for side in both)
    facts = [_facts(side.facts) for side in both]
    for kind in ("devices", "limits", "network", "disks"):
        yield kind, _pair({name: value for name, value in side.items() if _kind(name) == kind} for side in facts)
    yield "full", _full(*both)
    yield "nodes", _pair({n.path: f"{n.mode} {n.owner}" for n in side.devices.nodes} for side in both)
    yield "mounts", _pair({m.target: f"{m.type} {m.options}".strip() for m in side.devices.mounts} for side in both)
    yield "environment", _pair(dict(side.environment) for side in both)
    yield "caches", _pair({c.path: f"{c.mode} {c.owner}" for c in side.caches} for side in both)
    yield "missing", _pair({m.what: m.why for m in side.missing} for side in both)


def _pair(sides: Iterable[dict[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    first, second = sides
    return first, second


def _differences(kind: str, first: dict[str, str], second: dict[str, str]) -> list[Difference]:
    names = sorted(dict.fromkeys([*first, *second]), key=importance)
    rows = ((name, first.get(name), second.get(name)) for name in names)
    return [Difference(kind, name, a, b) for name, a, b in rows if a != b]


def _versions(side: Snapshot) -> dict[str, str]:
    """Each version, with what other files say otherwise."""
    return {name: " / ".join([v.version, *(other.version for other in v.also)]) for name, v in side.versions.items()}


def _chips(side: Snapshot) -> dict[str, str]:
    """How many of each chip."""
    names = [chip.name for chip in side.chips]
    return {name: str(names.count(name)) for name in dict.fromkeys(names)}


def _installs(side: Snapshot) -> dict[str, str]:
    return {i.path: f"{i.version or '?'}{' loaded' if i.loaded else ''}" for i in side.installs}


def _kind(fact: str) -> str | None:
    """Under which kind the differences of a fact are told, if they are."""
    name = fact.partition(" ")[0]
    return _KINDS.get(name) or _KINDS.get(name.partition(".")[0])


def _full(first: Snapshot, second: Snapshot) -> tuple[dict[str, str], dict[str, str]]:
    """How full the disks are of which one side's is nearly full, and the other's is not."""
    shares = [
        {f.subject or "": f.value for f in side.facts if f.name == "host.disk_percent" and isinstance(f.value, float)}
        for side in (first, second)
    ]
    near = [{mount for mount, share in side.items() if share >= FULL_PERCENT} for side in shares]
    odd = near[0] ^ near[1]
    return _pair({mount: f"{side[mount]:g}%" for mount in odd if mount in side} for side in shares)


def _facts(facts: list[Fact], is_momentary: bool = False) -> dict[str, str]:
    """Each fact by name and device."""
    shown: dict[str, str] = {}
    for fact in facts:
        if bool(_MOMENTARY.fullmatch(fact.name)) == is_momentary:
            name = f"{fact.name} [{fact.subject}]" if fact.subject else fact.name
            value = f"{fact.value:g}" if isinstance(fact.value, float) else fact.value
            shown[name] = f"{shown[name]}, {value}" if name in shown else value
    return shown
