"""`npu-kb merge`: the scans of several hosts told as one story."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from npu_kb.cli.cluster import add_telling, tell
from npu_kb.cli.options import load_knowledge
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.cluster.observation import Row


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scans", nargs="+", metavar="FILE", help="what `npu-kb scan --out` wrote on each host; `-`: stdin"
    )
    add_telling(parser)


def run(options: argparse.Namespace) -> int:
    return tell(options, _rows(options.scans), load_knowledge(options))


def _rows(names: list[str]) -> Iterator[Row]:
    """The rows of all files; one that is given twice, or in another order, changes nothing."""
    from npu_kb.cluster.observation import from_json_lines

    for name in names:
        try:
            if name == "-":
                yield from from_json_lines(sys.stdin, name)
            else:
                with open(name, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                    yield from from_json_lines(file, name)
        except OSError as error:
            raise NpuKbError(f"{name}: cannot be read: {error.strerror}; give what `npu-kb scan --out` wrote") from None
