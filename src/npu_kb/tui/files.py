"""Small files of this user alone."""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from npu_kb.files import put

_MOST_BYTES = 20_000_000
_LOCK_SECONDS = 1.0


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


@contextmanager
def changing(path: Path) -> Iterator[None]:
    """Inside, no other program changes the file that does so in here too.

    Where nothing can be locked, or another one holds the lock for longer than a change takes, it goes on without.
    """
    with ExitStack() as stack:
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            stack.callback(os.close, lock)
            _wait_for(lock)
        yield


def _wait_for(lock: int) -> None:
    """Hold the lock once nobody else does; OSError where nothing can be locked."""
    end = time.monotonic() + _LOCK_SECONDS
    while time.monotonic() < end:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.01)
        else:
            return
