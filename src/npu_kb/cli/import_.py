"""`npu-kb import`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("importer", metavar="IMPORTER", help="name of a module in importers/")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the importer's own arguments (try --help)")


def run(options: argparse.Namespace) -> int:
    from npu_kb.importing import run_importer

    return run_importer(options.importer, options.arguments)
