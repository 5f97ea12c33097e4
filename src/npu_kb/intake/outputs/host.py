"""What a Linux host says of itself: limits, memory, disks, device nodes, PCI devices.

Facts: host.memlock_kb, host.nofile, host.max_map_count, host.shm_mb, host.disk_percent (of a mount), host.disk_gb (of
the mount of a disk or share), host.hugepages_total, host.hugepages_free, host.memory_available_percent,
host.device_node (of a path: its mode and owner), host.pci_npu (of an address: the device id).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from npu_kb.intake.facts import UNLIMITED, Fact
from npu_kb.intake.logtext import Line


def _number(text: str) -> float:
    return UNLIMITED if text == "unlimited" else float(text)


def _kilobytes(text: str) -> float:
    return _number(text) / 1024


_SINGLE: list[tuple[str, str, str, Callable[[str], float | str]]] = [
    ("max locked memory", r"max locked memory\s+\(kbytes, -l\)\s*(?P<v>unlimited|\d+)\b", "host.memlock_kb", _number),
    ("max locked memory", r"max locked memory\s+(?P<v>unlimited|\d+)\s+(?:unlimited|\d+)\s+bytes", "host.memlock_kb",
     _kilobytes),
    ("open files", r"(?:max )?open files\s+(?:\(-n\))?\s*(?P<v>unlimited|\d+)\b", "host.nofile", _number),
    ("max_map_count", r"vm\.max_map_count\s*=\s*(?P<v>\d+)", "host.max_map_count", _number),
    ("hugepages_total", r"^HugePages_Total:\s*(?P<v>\d+)", "host.hugepages_total", _number),
    ("hugepages_free", r"^HugePages_Free:\s*(?P<v>\d+)", "host.hugepages_free", _number),
]  # fmt: skip
"""Text that must be in the lower-cased line, regex, fact name, conversion of group `v`."""
_COMPILED = [(word, re.compile(regex, re.IGNORECASE), name, convert) for word, regex, name, convert in _SINGLE]
_AFTER_COMMAND: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"ulimit -l\b"), "host.memlock_kb"),
    (re.compile(r"ulimit -n\b"), "host.nofile"),
    (re.compile(r"(?:cat \S*/proc/sys/vm/max_map_count|sysctl -n vm\.max_map_count)\b"), "host.max_map_count"),
]
_DF = re.compile(
    r"^(?!/dev/loop|squashfs)(?P<source>\S+)\s+(?P<size>\d+(?:\.\d+)?)(?P<unit>[KMGTP]?)i?B?\s+\S+\s+\S+\s+(?P<used>\d+)%"
    r"\s+(?P<mount>/\S*)$"
)
_FREE = re.compile(
    r"^Mem:\s+(?P<total>\d+)\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+\d+\D{0,2}\s+(?P<available>\d+)"
)
_NODE = re.compile(
    r"^(?P<mode>c[rwx-]{9})[.+@]?\s+\d+\s+(?P<owner>\S+)\s+(?P<group>\S+)\s.*\s"
    r"(?P<path>/dev/(?:davinci\w*|devmm_svm|hisi_hdc))$"
)
_PCI = re.compile(
    r"^(?P<address>[0-9a-f:.]{7,12}) Processing accelerators: Huawei Technologies Co\., Ltd\. Device "
    r"(?P<id>[0-9a-f]{4})"
)
_TOTAL, _AVAILABLE = re.compile(r"^MemTotal:\s+(\d+) kB"), re.compile(r"^MemAvailable:\s+(\d+) kB")
_UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
"""Megabytes in each."""


def read(lines: list[Line]) -> list[Fact]:
    """The facts of all these outputs."""
    facts: list[Fact] = []
    total_kb = 0.0
    for index, line in enumerate(lines):
        text = line.text
        facts += _single_facts(text, index)
        facts += _fact_after_command(lines, index)
        if "% /" in text and (found := _DF.match(text)):
            facts += _disk_facts(found, index)
        elif text.startswith("Mem"):
            total_kb = float(found[1]) if (found := _TOTAL.match(text)) else total_kb
            facts += _memory_facts(text, index, total_kb)
        elif text.startswith("c") and (found := _NODE.match(text)):
            facts.append(
                Fact("host.device_node", f"{found['mode']} {found['owner']}:{found['group']}", index, found["path"])
            )
        elif "accelerators" in text and (found := _PCI.match(text)):
            facts.append(Fact("host.pci_npu", found["id"], index, found["address"]))
    return facts


def _single_facts(text: str, index: int) -> list[Fact]:
    lowered = text.lower()
    return [
        Fact(name, convert(found["v"]), index)
        for word, regex, name, convert in _COMPILED
        if word in lowered and (found := regex.search(text))
    ]


def _disk_facts(found: re.Match[str], index: int) -> list[Fact]:
    """A line of df: how full the mount is; the size, which has a unit, of /dev/shm, a disk or a share."""
    mount, unit = found["mount"], found["unit"]
    facts = [Fact("host.disk_percent", float(found["used"]), index, mount)]
    if mount == "/dev/shm":
        facts.append(Fact("host.shm_mb", float(found["size"]) * _UNITS[unit or "K"], index))
    elif unit and re.search("[/:]", found["source"]):
        facts.append(Fact("host.disk_gb", round(float(found["size"]) * _UNITS[unit] / 1024, 1), index, mount))
    return facts


def _memory_facts(text: str, index: int, total_kb: float) -> list[Fact]:
    """The share of memory that is still available, from free or /proc/meminfo."""
    if found := _FREE.match(text):
        total, available = float(found["total"]), float(found["available"])
    elif (seen := _AVAILABLE.match(text)) and total_kb:
        total, available = total_kb, float(seen[1])
    else:
        return []
    return [Fact("host.memory_available_percent", round(100 * available / max(total, 1), 1), index)]


def _fact_after_command(lines: list[Line], index: int) -> list[Fact]:
    """The number that stands on the line after a command that prints only a number."""
    text = lines[index].text
    if index + 1 >= len(lines) or ("ulimit" not in text and "max_map_count" not in text):
        return []
    value = lines[index + 1].text.strip()
    if not re.fullmatch(r"unlimited|\d{1,12}", value):
        return []
    return [Fact(name, _number(value), index + 1) for regex, name in _AFTER_COMMAND if regex.search(text)][:1]
