"""`npu-kb import`."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import FOUND


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("importer", metavar="IMPORTER", nargs="?", help="what to read (none: list the importers)")
    parser.add_argument("--list", action="store_true", help="list the importers")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the importer's own arguments (try --help)")


def run(options: argparse.Namespace) -> int:
    from npu_kb.importing.registry import run_importer

    if options.list or not options.importer:
        return _list()
    return run_importer(options.importer, options.arguments)


def _list() -> int:
    """Print the importers, and name on stderr those of other packages that cannot be used."""
    from npu_kb.importing.registry import importers
    from npu_kb.intake.clean import printable

    found, faults = importers()
    width = max(len(importer.name) for importer in found)
    for importer in found:
        sys.stdout.write(f"{printable(importer.name):{width}}  {importer.summary}\n")
    for fault in faults:
        print(f"npu-kb: {printable(' '.join(fault.split()))}", file=sys.stderr)
    return FOUND
