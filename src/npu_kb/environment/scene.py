"""What of a machine no command prints: device files, mounts, folders that the stack writes, container or host."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress

from npu_kb.environment.root import Root
from npu_kb.environment.snapshot import Cache, Devices, Fact, Mount, Node

_NODES = re.compile(r"davinci\d+|davinci_manager|devmm_svm|hisi_hdc|dvpp_cmdlist|ummu|uburma")
_NEEDED = ("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
"""Beside the file of each card."""
_CONTAINER = re.compile(rb"docker|kubepods|containerd|lxc|libpod|crio")
_MOUNTS = re.compile(r"/dev/shm|/usr/local/(?:Ascend|dcmi|bin/npu-smi|sbin/npu-smi)\b.*|/etc/(?:ascend|hccn).*|/$")
_CACHES = ("~/ascend/log", "~/atc_data", "~/.cache", "~/.triton", "/tmp", "/dev/shm")
_CACHE_SETTINGS = (
    "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH", "ASCEND_CACHE_PATH", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR",
    "TORCH_EXTENSIONS_DIR", "VLLM_CACHE_ROOT", "TMPDIR",
)  # fmt: skip
_KNOWN_OWNERS = {0: "root"}


def devices(root: Root) -> Devices:
    """The device files of the NPUs and the mounts that concern them."""
    nodes = [_node(root, f"/dev/{name}") for name in root.names("/dev") if _NODES.fullmatch(name)]
    return Devices(nodes=[node for node in nodes if node], mounts=_mounts(root))


def device_facts(devices: Devices) -> list[Fact]:
    """How many NPUs have a device file, and of the files that all of them need, which are missing or closed."""
    paths = [node.path for node in devices.nodes]
    cards = [path for path in paths if re.fullmatch(r"/dev/davinci\d+", path)]
    absent = [path for path in _NEEDED if cards and path not in paths]
    return [
        Fact(name="host.device_files", value=float(len(cards)), source="/dev"),
        *(Fact(name="host.device_missing", value=path, source="/dev") for path in absent),
        *(Fact(name="host.device_access", value="denied", subject=node.path, source="/dev") for node in devices.nodes
          if not node.usable),
    ]  # fmt: skip


def folder_facts(caches: list[Cache]) -> list[Fact]:
    """The folders of the stack that this user cannot write."""
    closed = (cache.path for cache in caches if not cache.writable)
    return [Fact(name="host.folder_access", value="denied", subject=path, source="files") for path in closed]


def _node(root: Root, path: str) -> Node | None:
    with suppress(OSError):
        status = root.status(path)
        usable = root.may(path, os.R_OK | os.W_OK)
        return Node(path=path, mode=stat.filemode(status.st_mode), owner=_owner(root, status.st_uid), usable=usable)
    return None


def _mounts(root: Root) -> list[Mount]:
    rows = [row.split() for row in _text(root, "/proc/self/mounts").splitlines()]
    told = {row[1]: row for row in rows if len(row) > 3 and _MOUNTS.fullmatch(row[1])}
    return [Mount(target=row[1], type=row[2], options=_plain_options(row[3])) for row in told.values()]


def _plain_options(options: str) -> str:
    """Without the folders of an overlay, which name the machine's storage."""
    kept = [
        option for option in options.split(",") if option.partition("=")[0] in ("ro", "rw", "size", "nosuid", "noexec")
    ]
    return ",".join(kept)


def in_container(root: Root) -> bool:
    """Whether this is a container: by the marks that docker, podman and containerd leave."""
    if root.exists("/.dockerenv") or root.exists("/run/.containerenv"):
        return True
    with suppress(OSError):
        if _CONTAINER.search(root.read("/proc/1/cgroup")):
            return True
    first = next((row.split() for row in _text(root, "/proc/self/mounts").splitlines() if " / " in row), [])
    return len(first) > 3 and first[2] == "overlay" and bool(_CONTAINER.search(first[3].encode()))


def caches(root: Root, settings: Mapping[str, str]) -> list[Cache]:
    """The folders into which the stack writes logs and compiled kernels, as far as they are there."""
    home = settings.get("HOME", "/root")
    named = [path.replace("~", home, 1) for path in _CACHES]
    paths = dict.fromkeys(
        [*named, *(settings[name] for name in _CACHE_SETTINGS if settings.get(name, "").startswith("/"))]
    )
    found = []
    for path in paths:
        with suppress(OSError):
            status = root.status(path)
            shown = "~" + path.removeprefix(home) if home != "/" and path.startswith(home + "/") else path
            owner, writable = _owner(root, status.st_uid), root.may(path, os.W_OK)
            found.append(Cache(path=shown, owner=owner, mode=f"{status.st_mode & 0o7777:o}", writable=writable))
    return found


def _owner(root: Root, uid: int) -> str:
    """root, HwHiAiUser, the user who asks (`me`), or another one, whose name is nobody's business."""
    if uid in _KNOWN_OWNERS:
        return _KNOWN_OWNERS[uid]
    driver_user = re.search(r"^HwHiAiUser:[^:]*:(\d+):", _text(root, "/etc/passwd"), re.MULTILINE)
    if driver_user and int(driver_user[1]) == uid:
        return "HwHiAiUser"
    return "me" if uid == os.getuid() else "other"


def _text(root: Root, path: str) -> str:
    with suppress(OSError):
        return root.read(path).decode("utf-8", "replace")
    return ""
