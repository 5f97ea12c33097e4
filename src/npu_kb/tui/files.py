"""Small files of this user alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from npu_kb.files import put

_MOST_BYTES = 20_000_000


def write_private(path: Path, text: str) -> bool:
    """Put a text into a file that only this user can read; False where that is not possible."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        put(path, text, 0o600, synced=False)
    except OSError:
        return False
    return True


def read_regular(path: Path) -> bytes:
    """What a file holds; nothing where there is none, and of a pipe or device, which could be waited for for ever."""
    try:
        with open(path, "rb", opener=_without_waiting) as file:
            return file.read(_MOST_BYTES) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except OSError:
        return b""


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
