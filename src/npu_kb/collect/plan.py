"""Which commands are run to keep the scene: those that always tell something, those of the topic, for every NPU."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, NamedTuple

from npu_kb.environment.commandline import CommandLine, parse
from npu_kb.environment.snapshot import Snapshot
from npu_kb.gates.commands import effect_of
from npu_kb.knowledge.base import Knowledge

KERNEL_LOG = "dmesg-ascend"
"""Kept as a whole: what killed a job need not name the NPU."""
ALWAYS = (
    KERNEL_LOG, "journal-ascend", "npu-smi-info", "npu-smi-info-map", "npu-smi-version", "npu-smi-board",
    "npu-smi-health", "npu-smi-health-chip", "npu-smi-current-fault-event", "npu-smi-ecc", "npu-smi-usages",
    "npu-smi-common", "npu-smi-proc-mem", "npu-smi-topo", "hccn-link", "hccn-link-stat", "hccn-ip", "hccn-gateway",
    "hccn-netdetect", "hccn-net-health", "hccn-stat", "hccn-optical", "hccn-tls", "hccn-process", "hccn-conf",
    "hccn950-version", "hccn950-ub-connect", "device-nodes", "device-users", "id-groups", "lsmod-ascend", "lspci-npu",
    "driver-install-log", "uname", "env-ascend", "ascend-install-dirs", "ld-conf-ascend", "python-version",
    "glibc-version", "pip-list", "df-disks", "df-inodes", "df-shm", "free-memory", "cgroup-memory", "max-map-count",
    "numa-balancing", "ports-listening", "plog-list",
)  # fmt: skip
"""Ids of kb/commands.yaml, what a restart takes away first."""
_NEVER = {
    "npu-smi-info-watch": "runs until it is stopped",
    "torch-npu-probe": "opens the NPU and writes logs",
    "soc-name": "opens the NPU and writes logs",
    "ascend-dmi-diagnose": "runs tests on the NPU",
    "ascend-dmi-bandwidth": "runs tests on the NPU",
    "hccn-test-scdr": "runs a test on the NPU",
    "collect-env": "needs a script of another project",
    "pip-check": "runs code of the working directory",
}
_PLACEHOLDER = re.compile(r"<([a-z-]+)>")
_CARD = re.compile(r"/dev/davinci(\d+)")


class Step(NamedTuple):
    """One run: its name in the archive, the line as somebody would type it, and what to run."""

    name: str
    shown: str
    line: CommandLine


class LeftOut(NamedTuple):
    """What is not in the archive, and why."""

    what: str
    why: str


class Plan(NamedTuple):
    """The runs in their order, and the commands that are not run."""

    steps: list[Step]
    left_out: list[LeftOut]


def commands_of_topics(knowledge: Knowledge, topics: Iterable[str]) -> list[str]:
    """The commands that the entries of these topics name, in the order of their files."""
    wanted = set(topics)
    entries = (entry for entry in knowledge.entries() if entry["topic"] in wanted)
    return list(dict.fromkeys(id for entry in entries for id in commands_of(entry)))


def commands_of(entry: dict[str, Any]) -> list[str]:
    """The ids of the commands that an entry wants to be run."""
    return [check["command"] for check in entry["diagnose"] if check.get("command")]


def plan(commands: dict[str, dict[str, Any]], wanted: Iterable[str], snapshot: Snapshot) -> Plan:
    """The runs of ALWAYS and of the wanted commands that only read and that the chips of this machine know.

    `commands` are those of the built-in kb/commands.yaml: nothing that a private folder adds is ever run.
    """
    families = {chip.family for chip in snapshot.chips if chip.family}
    made = Plan([], [])
    for id in dict.fromkeys([*ALWAYS, *wanted]):
        command = commands.get(id)
        products = command["products"] if command else []
        if not command or (products and families and not families & set(products)):
            continue
        if why := _NEVER.get(id) or _not_reading(command):
            made.left_out.append(LeftOut(command["run"], why))
        else:
            _add(made, id, command["run"], snapshot)
    return made


def _not_reading(command: dict[str, Any]) -> str:
    reads = command["effect"] == "read" and effect_of(command["run"]) == "read"
    return "" if reads else "does more than reading"


def _add(made: Plan, id: str, run: str, snapshot: Snapshot) -> None:
    """A step for every NPU and chip that the command asks for."""
    for words in _fillings(run, snapshot):
        shown = _PLACEHOLDER.sub(lambda found, words=words: words.get(found[1], found[0]), run)  # type: ignore[misc]
        if open_word := _PLACEHOLDER.search(shown):
            why = "no NPU was found" if open_word[1] in ("npu", "chip") else f"needs {open_word[0]}"
            made.left_out.append(LeftOut(shown, why))
        elif line := parse(shown):
            whole = line._replace(filters=[]) if id == KERNEL_LOG else line
            suffix = "".join(f"-{word}{value}" for word, value in words.items())
            made.steps.append(Step(id + suffix, shown.partition(" | ")[0] if whole is not line else shown, whole))
        else:
            made.left_out.append(LeftOut(shown, "needs a shell"))


def _fillings(run: str, snapshot: Snapshot) -> Iterator[dict[str, str]]:
    """What stands for <npu> and <chip> in each run of the command; nothing where it has neither."""
    words = _PLACEHOLDER.findall(run)
    if "npu" not in words or not (npus := _npus(run, snapshot)):
        yield {}
    elif "chip" not in words:
        yield from ({"npu": npu} for npu in npus)
    else:
        counts = {chip.npu: chip.count for chip in snapshot.chips}
        for npu in npus:
            yield from ({"npu": npu, "chip": str(chip)} for npu, chip in product([npu], range(counts.get(npu, 1))))


def _npus(run: str, snapshot: Snapshot) -> list[str]:
    """The numbers of the NPUs as the command counts them; where npu-smi tells none, those of the device files.

    hccn_tool counts chips by their physical id, which differs from the number of the NPU where an NPU has two.
    """
    if run.startswith("hccn_tool") and any(chip.family == "910_93" for chip in snapshot.chips):
        ids = sorted({int(fact.value) for fact in snapshot.facts if fact.name == "npu.physical_id"})
        if ids:
            return [str(id) for id in ids]
    cards = (_CARD.fullmatch(node.path) for node in snapshot.devices.nodes)
    return [chip.npu for chip in snapshot.chips] or sorted((card[1] for card in cards if card), key=int)
