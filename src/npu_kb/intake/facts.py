"""Values read out of pasted outputs: npu-smi tables, hccn_tool, ulimit, sysctl, df, free.

Names: npu.temperature_c, npu.power_w, npu.health, npu.aicore_percent, npu.hbm_usage_percent, npu.ecc_double_bit,
npu.ecc_isolated_pages, hccn.link, hccn.net_health, host.memlock_kb, host.nofile, host.max_map_count, host.shm_mb,
host.disk_percent, host.memory_available_percent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from npu_kb.intake.logtext import Line


class Fact(NamedTuple):
    """One value, the line it was read from (index), and the device it belongs to, if any."""

    name: str
    value: float | str
    line: int
    subject: str | None = None


UNLIMITED = float("inf")


def _number(text: str) -> float:
    return UNLIMITED if text == "unlimited" else float(text)


def _megabytes_per(unit: str) -> float:
    return {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2}[unit.upper()[0]]


Reader = tuple[str, str, str, Callable[[str], "float | str"]]
"""Text that must be in the lower-cased line, regex, fact name, conversion of group `v`."""

_SIMPLE: list[Reader] = [
    ("max locked memory", r"max locked memory\s+\(kbytes, -l\)\s*(?P<v>unlimited|\d+)\b", "host.memlock_kb", _number),
    ("open files", r"(?:max )?open files\s+(?:\(-n\))?\s*(?P<v>unlimited|\d+)\b", "host.nofile", _number),
    ("max_map_count", r"vm\.max_map_count\s*=\s*(?P<v>\d+)", "host.max_map_count", _number),
    ("link status", r"link status:\s*(?P<v>UP|DOWN)\b", "hccn.link", str.upper),
    ("net health status", r"net health status:\s*(?P<v>[A-Za-z][A-Za-z ]*\w)", "hccn.net_health", str),
    ("double bit error count", r"(?:HBM|DDR) Double Bit Error Count\s*:\s*(?P<v>\d+)", "npu.ecc_double_bit", _number),
    ("double bit isolated", r"HBM Double Bit Isolated Pages Count\s*:\s*(?P<v>\d+)", "npu.ecc_isolated_pages", _number),
]  # fmt: skip

_AFTER_COMMAND: list[tuple[str, str]] = [
    (r"ulimit -l\b", "host.memlock_kb"),
    (r"ulimit -n\b", "host.nofile"),
    (r"(?:cat /proc/sys/vm/max_map_count|sysctl -n vm\.max_map_count)\b", "host.max_map_count"),
]

_CARD = (
    r"^\|\s*(?P<npu>\d+)\s*\|?\s+(?P<name>[0-9A-Za-z-]+)\s*\|\s*(?P<health>OK|Warning|Alarm|Critical|UNKNOWN|NA)\s*\|"
    r"\s*(?P<power>\d+(?:\.\d+)?|-|NA)\s+(?P<temp>\d+|NA|-)(?=\s)"
)
_CHIP = (
    r"^\|\s*(?P<chip>\d*)\s*(?:\d+)?\s*\|(?:\s*\|)?\s*(?:[0-9A-Fa-f]{4}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]|NA)\s*\|"
    r"\s*(?P<aicore>\d+)\s+(?:\d+\s*/\s*\d+\s+)?(?P<used>\d+)\s*/\s*(?P<total>\d+)\s*\|"
)
_DF = (
    r"^(?!/dev/loop|squashfs)\S+\s+(?P<size>\d+(?:\.\d+)?)(?P<unit>[KMGT]?)i?B?\s+\S+\s+\S+\s+(?P<used>\d+)%"
    r"\s+(?P<mount>/\S*)$"
)
_FREE = r"^Mem:\s+(?P<total>\d+)\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+(?P<available>\d+)"


def read_facts(lines: list[Line]) -> list[Fact]:
    """All facts of a log, in the order of its lines."""
    facts: list[Fact] = []
    card = None
    whole = "\n".join(line.text for line in lines).lower()
    readers = [reader for reader in _SIMPLE if reader[0] in whole]
    has_commands = "ulimit" in whole or "max_map_count" in whole
    for index, line in enumerate(lines):
        text = line.text
        if text.startswith("+="):
            card = None
        if text.startswith("|"):
            if found := _regex(_CHIP).match(text):
                facts += _chip_facts(found, index, card)
            elif found := _regex(_CARD).match(text):
                card = found.group("npu")
                facts += _card_facts(found, index)
            continue
        if readers:
            facts += _simple_facts(text, index, readers)
        if has_commands:
            facts += _fact_after_command(lines, index)
        if "% /" in text and (found := _regex(_DF).match(text)):
            facts += _disk_facts(found, index)
        if text.startswith("Mem:") and (found := _regex(_FREE).match(text)):
            share = 100 * float(found.group("available")) / max(float(found.group("total")), 1)
            facts.append(Fact("host.memory_available_percent", round(share, 1), index))
    return facts


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _card_facts(found: re.Match[str], index: int) -> list[Fact]:
    npu = found.group("npu")
    facts = [Fact("npu.health", found.group("health"), index, npu)]
    for name, group in (("npu.power_w", "power"), ("npu.temperature_c", "temp")):
        if (value := found.group(group)).replace(".", "").isdigit():
            facts.append(Fact(name, float(value), index, npu))
    return facts


def _chip_facts(found: re.Match[str], index: int, card: str | None) -> list[Fact]:
    facts = [Fact("npu.aicore_percent", float(found.group("aicore")), index, card)]
    if total := float(found.group("total")):
        facts.append(Fact("npu.hbm_usage_percent", round(100 * float(found.group("used")) / total, 1), index, card))
    return facts


def _disk_facts(found: re.Match[str], index: int) -> list[Fact]:
    """A line of df: how full the mount is; of /dev/shm also its size."""
    mount = found.group("mount")
    facts = [Fact("host.disk_percent", float(found.group("used")), index, mount)]
    if mount == "/dev/shm":
        size = float(found.group("size")) * _megabytes_per(found.group("unit") or "K")
        facts.append(Fact("host.shm_mb", size, index))
    return facts


def _simple_facts(text: str, index: int, readers: list[Reader]) -> list[Fact]:
    lowered = text.lower()
    return [
        Fact(name, convert(found.group("v")), index)
        for trigger, regex, name, convert in readers
        if trigger in lowered and (found := _regex(regex).search(text))
    ]


def _fact_after_command(lines: list[Line], index: int) -> list[Fact]:
    """The number that stands on the line after a command that prints only a number."""
    if index + 1 >= len(lines) or ("ulimit" not in lines[index].text and "max_map_count" not in lines[index].text):
        return []
    value = lines[index + 1].text.strip()
    if not re.fullmatch(r"unlimited|\d{1,12}", value):
        return []
    for regex, name in _AFTER_COMMAND:
        if _regex(regex).search(lines[index].text):
            return [Fact(name, _number(value), index + 1)]
    return []
