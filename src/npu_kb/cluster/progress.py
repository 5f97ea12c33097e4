"""What a scan does, while one waits for it: one line on a terminal, nothing anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from npu_kb.waiting import told_if_it_takes_long

_EVERY = 0.2
_CLEAR = "\r\x1b[K"


@contextmanager
def told_if_it_prepares() -> Iterator[None]:
    """While the knowledge is loaded, which takes long only where it changed."""
    if not _is_on_a_terminal():
        yield
        return
    with told_if_it_takes_long("preparing the knowledge, once ..."):
        yield


def _is_on_a_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def shown_progress() -> Iterator[Callable[[int, int], None]]:
    """A function of the bytes done and of all bytes, which shows share, rate and remaining time on standard error."""
    if not _is_on_a_terminal():
        yield lambda done, total: None
        return
    start, shown = time.monotonic(), 0.0

    def show(done: int, total: int) -> None:
        nonlocal shown
        now = time.monotonic()
        if now - shown >= _EVERY:
            shown = now
            sys.stderr.write(f"\r{progress_text(done, total, now - start)}\x1b[K")
            sys.stderr.flush()

    try:
        yield show
    finally:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


def progress_text(done: int, total: int, seconds: float) -> str:
    """Such as ` 42%  1.3 of 3.0 GB  410 MB/s  ETA 0:04`."""
    share = min(1.0, done / total) if total else 0.0
    rate = done / max(seconds, 0.001)
    left = int((total - done) / rate) if rate and total > done else 0
    clock = f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}" if left >= 3600 else f"{left // 60}:{left % 60:02}"
    return f"{share:4.0%}  {done / 1e9:.1f} of {total / 1e9:.1f} GB  {rate / 1e6:.0f} MB/s  ETA {clock}"
