"""Pipes that are given by name: to open one waits for its writer, without end where none comes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from npu_kb.waiting import told_if_it_takes_long


def is_pipe(path: str) -> bool:
    """Whether a pipe has this name."""
    with suppress(OSError, ValueError):
        return stat.S_ISFIFO(os.stat(path).st_mode)
    return False


@contextmanager
def told_if_it_waits(path: str) -> Iterator[None]:
    """While a file is opened: one line on standard error if it is a pipe whose writer does not come."""
    if not is_pipe(path):
        yield
        return
    with told_if_it_takes_long(f"{path} is a pipe: waiting for its writer"):
        yield
