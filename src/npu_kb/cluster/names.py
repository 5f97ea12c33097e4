"""What the names of logs and of their folders say: host, device, rank, process and its role."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class PathNames(NamedTuple):
    """What the names of a source say of it."""

    host: str = ""
    device: int | None = None
    rank: int | None = None
    pid: int | None = None
    role: str = ""


_RANK = re.compile(r"(?i)(?:^|[^a-z])rank[-_=]?(\d{1,5})(?!\d)|^(?:worker|task)_(\d{1,5})(?:\.log|\.out|\.err|$)")
_DEVICE_FOLDER = re.compile(r"^(?:device|dev-os|npu)-(\d{1,3})$")
_PLOG = re.compile(r"(?:^|[^a-z])(?:plog|device)-(\d+)_\d{6,}")
_PLOG_START = re.compile(r"plog-(\d+)_(\d{14})\d*\.log")
_LAUNCH = 100
"""Apart in the digits of two plogs' names (a minute): as far as the ranks of a launch may be."""
_LOCAL_RANK = re.compile(r"attempt_\d+/(\d{1,3})/std(?:out|err)\.log$")
_TORCHRUN = re.compile(r"(?:/[^/]+)?/attempt_\d+(?:/.*)?$")
"""Its folders below the one that it was told to write to; the run's own stands above the attempts."""
_HOST_PREFIX = re.compile(r"^([A-Za-z0-9][\w.-]*):(?=.)")
_HOST_FOLDER = re.compile(
    r"(?i)^(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[\w.-]*[^a-z])?(?:node|host|server|worker|master|pod|npu)[-_]?\w*\d[\w.-]*)$"
)
_POD = re.compile(r"pods/[^/]+?_([^/_]+)_[0-9a-f-]{8,}/")
_STRUCTURE = re.compile(
    r"(?i)^(?:ascend|log|logs|var|root|home|tmp|debug|run|security|plog|(?:device|dev-os|npu)-\d+|slog|hisi_logs|process_log|"
    r"device_log|host_log|train_log|bmc_log|dl_log|mindie|crash|message|device-os|rank[-_]?\d+|20\d\d[-_]?\d\d[-_]?\d\d[\d_:.-]*|"
    r"attempt_\d+|(?:torchelastic|none)_\w+|\d{1,3})$"
)
_ROLES = [
    (r"(?:^|[^a-z])plog-\d", "worker"),
    (r"^device-\d+_\d", "device"),
    (r"(?i)^scheduler", "scheduler"),
    (r"(?i)^mindie", "mindie"),
    (r"(?i)^vllm", "vllm"),
    (r"(?i)^(?:dmesg|messages|syslog|kern|vmcore-dmesg|journal|sysmonitor)", "host"),
    (r"(?i)rank|worker|^std(?:out|err)", "worker"),
]


def names_of_all(sources: Iterable[str]) -> dict[str, PathNames]:
    """What the paths of all sources say; a folder above all of a scan names a host only where nothing else does."""
    scans: dict[str, dict[str, str]] = defaultdict(dict)
    for source in sources:
        host, path = _split(source)
        scans[host][source] = os.path.normpath(f"/{path}")
    names = {}
    for host, paths in scans.items():
        above = _TORCHRUN.sub("", os.path.commonpath([path.rpartition("/")[0] or "/" for path in paths.values()]))
        for source, path in paths.items():
            below = names_of(path[len(above) :])
            names[source] = below._replace(host=below.host or host or names_of(path).host)
    return names


def _split(source: str) -> tuple[str, str]:
    """The host on which a source was scanned, if that is told, and its path."""
    prefix = _HOST_PREFIX.match(source)
    return (prefix[1], source[prefix.end() :]) if prefix else ("", source)


def names_of(source: str) -> PathNames:
    """What the path of a source says; `HOST:path` is of a scan on that host."""
    scanned_on, path = _split(source)
    *folders, name = re.split(r"[/!]", path.strip("/"))
    pod = _POD.search(path)
    host = pod[1] if pod else _host_folder(folders) or scanned_on or _top_folder(folders)
    rank = next((int(m[1] or m[2]) for part in reversed([*folders, name]) if (m := _RANK.search(part))), None)
    device = next((int(m[1]) for part in reversed(folders) if (m := _DEVICE_FOLDER.match(part))), None)
    device = device if (local := local_rank(path)) is None else local
    pid = _PLOG.search(name)
    role = next((role for pattern, role in _ROLES if re.search(pattern, name)), "device" if device is not None else "")
    return PathNames(host, device, rank, int(pid[1]) if pid else None, role)


def local_rank(source: str) -> int | None:
    """The number of a process on its host, where torchrun named the folder of its logs."""
    found = _LOCAL_RANK.search(source)
    return int(found[1]) if found else None


def _host_folder(folders: list[str]) -> str:
    named = [folder for folder in folders if _HOST_FOLDER.match(folder) and not _STRUCTURE.match(folder)]
    return named[-1] if named else ""


def _top_folder(folders: list[str]) -> str:
    """The last folder that is not part of a known layout, if it is not the only one above a file."""
    own = [folder for folder in folders if not _STRUCTURE.match(folder) and not _RANK.search(folder)]
    return own[-1] if own and len(folders) > 1 else ""


def is_cluster(sources: Iterable[str]) -> bool:
    """Whether the names of the sources tell of more than one rank or host, or of processes started together."""
    sources = list(sources)
    names = [names_of(source) for source in sources]
    hosts = {each.host for each in names if each.role and each.host}
    ranks = {each.rank for each in names if each.rank is not None}
    local_ranks = {local_rank(source) for source in sources} - {None}
    starts = sorted({(int(found[2]), found[1]) for source in sources if (found := _PLOG_START.search(source))})
    together = any(b[0] - a[0] <= _LAUNCH and a[1] != b[1] for a, b in pairwise(starts))
    several = max(len(hosts), len(ranks), len(local_ranks)) > 1
    return several or together or _are_mostly_alike(sources)


def _are_mostly_alike(sources: list[str]) -> bool:
    """Whether most are of one name in folders side by side, such as one for each pod."""
    folders: dict[tuple[str, str], set[str]] = defaultdict(set)
    for source in sources:
        above, _, file = source.replace("!", "/").rpartition("/")
        parent, _, folder = above.rpartition("/")
        if folder and not _STRUCTURE.match(folder) and not _POD.search(source):
            folders[parent, file].add(folder)
    alike = sum(len(each) for each in folders.values() if len(each) > 1)
    return alike * 2 > len(sources)
