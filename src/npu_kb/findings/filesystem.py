"""Is a folder on a disk of this machine? SQLite's write-ahead log must not be shared between hosts."""

from __future__ import annotations

import os
from pathlib import Path

_LOCAL = {"btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"}


def is_local(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> bool:
    """Whether the folder's file system is known to be local; a home on NFS or Lustre is not."""
    try:
        rows = [line.split(" ") for line in mounts.read_text("utf-8", "surrogateescape").splitlines()]
    except OSError:
        return False
    real = os.path.realpath(folder)
    holding = [(len(row[1]), index, row[2]) for index, row in enumerate(rows) if _is_below(real, _unescaped(row[1]))]
    return max(holding, default=(0, 0, ""))[2] in _LOCAL


def _is_below(path: str, mount: str) -> bool:
    return path == mount or path.startswith(mount.rstrip("/") + "/")


def _unescaped(mount: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        mount = mount.replace(code, char)
    return mount
