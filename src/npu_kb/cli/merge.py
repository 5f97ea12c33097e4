"""`npu-kb merge`: the scans of several hosts told as one story."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from npu_kb.cli.cluster import add_telling, tell
from npu_kb.cli.options import BAD, load_knowledge, warn

if TYPE_CHECKING:
    from npu_kb.cluster.observation import Row
    from npu_kb.knowledge.base import Knowledge

_UNKNOWN = 3
"""Entries that the knowledge lacks and that are named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = "what `npu-kb scan --out` wrote on each host, also packed, or a folder of it (*.jsonl*); `-`: stdin"
    parser.add_argument("scans", nargs="+", metavar="FILE", help=what)
    add_telling(parser)


def run(options: argparse.Namespace) -> int:
    from npu_kb.cluster.scans import Scans

    knowledge = load_knowledge(options)
    unknown: set[str] = set()
    with closing(Scans(options.scans)) as scans:
        rows = _checked(scans.rows(), knowledge, unknown)
        first = next(rows, None)
        if not first and scans.left_out:
            status = BAD  # there is nothing to tell anything of
        else:
            status, _ = tell(options, chain([first] if first else [], rows), knowledge, scans)
        for left_out in scans.left_out:
            warn(f"left out: {left_out}")
        for note in scans.notes:
            warn(note)
    if unknown:
        warn(f"the knowledge here has no {', '.join(sorted(unknown))}; use the release that made the scans")
    return status


def _checked(rows: Iterable[Row], knowledge: Knowledge, unknown: set[str]) -> Iterator[Row]:
    """The rows; some of the entries that they name and the knowledge lacks are added to `unknown`."""
    from npu_kb.cluster.observation import Observation

    @lru_cache(maxsize=10_000)
    def is_known(entry: str) -> bool:
        return knowledge.entry(entry) is not None

    for row in rows:
        if isinstance(row, Observation) and not is_known(row.entry) and len(unknown) < _UNKNOWN:
            unknown.add(row.entry)
        yield row
