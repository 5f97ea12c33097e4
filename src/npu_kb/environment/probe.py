"""Read this machine with read-only commands and files: whole in less than ten seconds, whatever hangs or is missing."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from npu_kb.environment import cann, scene
from npu_kb.environment.assemble import assemble, is_setting
from npu_kb.environment.commandline import parse
from npu_kb.environment.pseudonyms import key_of
from npu_kb.environment.root import Root
from npu_kb.environment.running import (
    Cancelled,
    Output,
    Patience,
    command,
    interruptible,
    missing,
    never,
    reading,
    together,
)
from npu_kb.environment.snapshot import HOST, Fact, Install, Missing, Snapshot
from npu_kb.intake.clean import decode
from npu_kb.intake.logtext import Line, lines_of
from npu_kb.intake.outputs import versionfiles

if TYPE_CHECKING:
    from npu_kb.knowledge.base import Knowledge

OVERALL_SECONDS = 8.0
_SCENE_SECONDS, _DEVICE_SECONDS = 1.5, 3.0
"""For looking at the file system, and kept for the commands of all devices."""
_FIRST = ("npu-smi-info", "npu-smi-info-map", "npu-smi-version", "uname", "glibc-version", "python-version", "pip-list",
          "df-disks", "lspci-npu")  # fmt: skip
_PER_NPU = ("npu-smi-board", "npu-smi-ecc", "npu-smi-health", "npu-smi-health-chip", "hccn950-ub-connect")
_PER_PORT = ("hccn-link", "hccn-ip", "hccn-net-health", "hccn-tls")
"""Of hccn_tool, which counts chips (by physical id), not NPUs."""
_FILES = (
    "/proc/self/limits",
    "/proc/sys/vm/max_map_count",
    "/proc/meminfo",
    "/etc/os-release",
    "/etc/ascend_install.info",
    "{ascend}/driver/version.info",
    "{ascend}/firmware/version.info",
    "/usr/local/Ascend/nnal/atb/latest/version.info",
    "/usr/local/Ascend/mindie/latest/version.info",
)
_OPTIONAL = ("nnal", "mindie", "ascend_install")
"""Words of files that most machines do without; they are not called missing."""
_INSTALL_PATH = re.compile(rb"^Driver_Install_Path_Param=(/\S+)", re.MULTILINE)


class _Scene(NamedTuple):
    """What the file system shows: fields of the snapshot, the files of each CANN by its folder, the addresses' key."""

    fields: dict[str, Any]
    cann: dict[str, list[str]]
    key: bytes = b""


@interruptible()
def probe(
    knowledge: Knowledge,
    root: Root,
    settings: Mapping[str, str],
    name: str | None = None,
    cancelled: Cancelled = never,
    patience: Patience | None = None,
) -> Snapshot:
    """The snapshot of this machine; `settings` are its environment variables, `name` is what the user calls it.

    `knowledge` has to be the built-in one (`Knowledge.load([])`): what overlays call a read-only command is not run.
    Stopped, and all commands with it, once `cancelled` says so. `patience` learns which programs give no answer.
    """
    deadline = time.monotonic() + OVERALL_SECONDS
    runner = _Runner(knowledge, deadline, patience or Patience())
    seen = together({"scene": partial(_observe, root, settings)}, time.monotonic() + _SCENE_SECONDS, cancelled)
    observed = seen.get("scene", _Scene({}, {}))
    outputs = _gather(
        {**runner.tasks(_FIRST, {}), **_file_tasks(root, observed.cann)}, deadline - _DEVICE_SECONDS, cancelled
    )
    first = assemble(_lines(outputs))
    outputs += _gather(_device_tasks(runner, first), deadline, cancelled)
    absent = [] if seen else [Missing(what="/dev, /proc/self/mounts", why="no answer")]
    fields = {
        **observed.fields,
        "environment": {name: value for name, value in settings.items() if is_setting(name)},
        "installs": _installs(observed.cann, outputs, cann.loaded(root, settings) if seen else None),
        "missing": absent + [output.missing for output in outputs if output.missing and not _is_optional(output)],
        "host": name or HOST,
    }
    return assemble(_lines(outputs), fields, observed.key)


def _gather(tasks: dict[str, Callable[[], Output]], deadline: float, cancelled: Cancelled) -> list[Output]:
    """The outputs of all tasks; of those that are not done in time, that they are missing."""
    done = together(tasks, deadline, cancelled)
    return [done.get(source) or missing(source, "no answer") for source in tasks]


def _observe(root: Root, settings: Mapping[str, str]) -> _Scene:
    folders = cann.installs(root, settings)
    devices, container, caches = scene.devices(root), scene.in_container(root), scene.caches(root, settings)
    facts = [
        Fact(name="host.container", value="yes" if container else "no", source="/proc"),
        *scene.device_facts(devices),
        *scene.folder_facts(caches),
        Fact(
            name="cann.installs_loaded",
            value=float(len(cann.all_loaded(root, settings, folders))),
            source="environment",
        ),
    ]
    fields = {"container": container, "devices": devices, "caches": caches, "facts": facts}
    return _Scene(fields, {folder: cann.files_of(root, folder) for folder in folders}, key_of(root))


def _file_tasks(root: Root, installed: dict[str, list[str]]) -> dict[str, Callable[[], Output]]:
    """The readings of all files, those of the loaded CANN before those of others."""
    paths = [*_driver_files(root), *(path for files in installed.values() for path in files)]
    return {path: partial(reading, path, partial(root.read, path)) for path in paths}


def files_read(root: Root, settings: Mapping[str, str]) -> list[str]:
    """The files that a snapshot is read from, as far as they are there."""
    installed = [path for folder in cann.installs(root, settings) for path in cann.files_of(root, folder)]
    return [path for path in (*_driver_files(root), *installed) if root.exists(path)]


def _driver_files(root: Root) -> list[str]:
    return [path.format(ascend=_driver_folder(root)) for path in _FILES]


def _driver_folder(root: Root) -> str:
    """Where the driver is installed, as its installer wrote down."""
    with suppress(OSError):
        if found := _INSTALL_PATH.search(root.read("/etc/ascend_install.info")):
            return found[1].decode("utf-8", "replace")
    return "/usr/local/Ascend"


def _device_tasks(runner: _Runner, first: Snapshot) -> dict[str, Callable[[], Output]]:
    """What is asked of each NPU and each of its ports, where the first look found any."""
    ports = [int(f.value) for f in first.facts if f.name == "npu.physical_id"]
    families = {chip.family for chip in first.chips if chip.family}
    tasks: dict[str, Callable[[], Output]] = {}
    for chip in first.chips:
        tasks |= runner.tasks(_PER_NPU, {"npu": chip.npu, "chip": "0"}, families)
    numbers = [str(port) for port in ports] if "910_93" in families else [chip.npu for chip in first.chips]
    for number in numbers:
        tasks |= runner.tasks(_PER_PORT, {"npu": number}, families)
    return tasks


def _installs(installed: dict[str, list[str]], outputs: list[Output], loaded: str | None) -> list[Install]:
    texts = {output.source: decode(output.data) for output in outputs}
    rows = []
    for folder, files in installed.items():
        lines = [line for path in files for line in ["", *texts.get(path, "").splitlines()]]
        version = next((value for component, value, _ in versionfiles.versions(lines) if component == "cann"), None)
        rows.append(Install(path=folder, version=version, loaded=folder == loaded))
    return rows


def _lines(outputs: list[Output]) -> list[Line]:
    """What was printed as lines, each output below the command that would print it."""
    lines: list[Line] = []
    for output in outputs:
        shown = f"cat {output.source}" if output.source.startswith("/") else output.source
        lines += [Line(f"$ {shown}", 0, output.source), *lines_of(output.data, output.source)]
    return lines


def _is_optional(output: Output) -> bool:
    return bool(output.missing) and any(word in output.source for word in _OPTIONAL)


class _Runner:
    """Commands of kb/commands.yaml, as tasks: those that read only, without the filters behind them."""

    def __init__(self, knowledge: Knowledge, deadline: float, patience: Patience) -> None:
        self._commands = knowledge.commands()
        self._deadline = deadline
        self._patience = patience

    def tasks(
        self, ids: Iterable[str], words: dict[str, str], families: Collection[str] = ()
    ) -> dict[str, Callable[[], Output]]:
        """Those of the commands that these chips know, with the words put in, by their command line."""
        tasks: dict[str, Callable[[], Output]] = {}
        for id in ids:
            row = self._commands.get(id)
            if not row or row["effect"] != "read" or not _is_known_to(row["products"], families):
                continue
            run = re.sub(r"<([a-z-]+)>", lambda found: words.get(found[1], found[0]), row["run"])
            if line := parse(run):
                shown = shlex.join(line.arguments)
                run_it = partial(command, shown, line.runnable, self._deadline)
                tasks[shown] = partial(self._patience.ask, line.arguments[0], shown, run_it)
        return tasks


def _is_known_to(products: list[str], families: Collection[str]) -> bool:
    return not products or not families or any(family in products for family in families)
