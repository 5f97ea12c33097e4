"""Say what is waited for, where it takes long enough to wonder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_PATIENCE = 1.0
"""Seconds."""


@contextmanager
def told_if_it_takes_long(text: str) -> Iterator[None]:
    """One line on standard error if what is done meanwhile takes more than a second."""
    from threading import Timer

    timer = Timer(_PATIENCE, _tell, (text,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _tell(text: str) -> None:
    from npu_kb.intake.clean import printable

    if sys.stderr is not None:
        print(f"npu-kb: {printable(text)}", file=sys.stderr, flush=True)
