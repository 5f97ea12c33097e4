"""`npu-kb merge`: the scans of several hosts told as one story."""

from __future__ import annotations

import argparse
from contextlib import closing
from itertools import chain

from npu_kb.cli.cluster import add_telling, tell
from npu_kb.cli.options import BAD, load_knowledge, warn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = "what `npu-kb scan --out` wrote on each host, also packed, or a folder of it (*.jsonl*); `-`: stdin"
    parser.add_argument("scans", nargs="+", metavar="FILE", help=what)
    add_telling(parser)


def run(options: argparse.Namespace) -> int:
    from npu_kb.cluster.scans import Scans

    knowledge = load_knowledge(options)
    with closing(Scans(options.scans)) as scans:
        rows = scans.rows()
        first = next(rows, None)
        if not first and scans.left_out:
            status = BAD  # there is nothing to tell anything of
        else:
            status, _ = tell(options, chain([first] if first else [], rows), knowledge, scans)
        for left_out in scans.left_out:
            warn(f"left out: {left_out}")
        for note in scans.notes:
            warn(note)
    return status
