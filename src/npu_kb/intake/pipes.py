"""Pipes that are given by name: to open one waits for its writer, without end where none comes."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PATIENCE = 1.0
"""Seconds that a writer may take to come, such as that of a `<(...)`, before it is said that it is waited for."""


def is_pipe(path: str) -> bool:
    """Whether a pipe has this name."""
    with suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


@contextmanager
def told_if_it_waits(path: str) -> Iterator[None]:
    """While a file is opened: one line on standard error if it is a pipe and nobody writes to it."""
    if not is_pipe(path):
        yield
        return
    from threading import Timer

    timer = Timer(_PATIENCE, _tell, (path,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(path: str) -> None:
    from npu_kb.intake.clean import printable

    if sys.stderr is not None:
        print(f"npu-kb: {printable(path)} is a pipe: waiting for its writer", file=sys.stderr, flush=True)
