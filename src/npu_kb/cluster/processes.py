"""Processes that are forked off to read logs, and that end with the one that forked them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

_LOOK_FOR_PARENT = 0.5
"""Seconds."""


@contextmanager
def own_pool(jobs: int) -> Iterator[Executor]:
    """Processes that are forked off, so that they need not build what this one has."""
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(jobs, context, _begin_worker, (os.getpid(),))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker(parent: int) -> None:
    """Leave Ctrl-C to the parent, and end when it does, however it was ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK_FOR_PARENT)
    os._exit(1)
