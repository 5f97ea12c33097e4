"""`npu-kb check`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from npu_kb.cli.options import FOUND, NONE, positive, print_json

if TYPE_CHECKING:
    from npu_kb.gates.run import Report

_FORMATS = ["text", "json", "markdown", "sarif", "github"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="entry files or folders (default: all)")
    parser.add_argument("--kb", metavar="DIR", help="kb folder to check (default: the built-in one)")
    parser.add_argument("--changed", metavar="BASE", help="only what changed since the git revision BASE")
    parser.add_argument(
        "--format", choices=_FORMATS, default="text",
        help="text; json; markdown: a pull request's comment; sarif: 2.1.0; github: annotations of a workflow",
    )  # fmt: skip
    parser.add_argument("--table", action="store_true", help="right and wrong answers of each entry, however many")
    parser.add_argument(
        "--stale-after", type=positive, default=18, metavar="MONTHS", help="warn of what nobody has read since (18)"
    )
    parser.add_argument("--links", action="store_true", help="ask the network whether addresses still answer")
    parser.add_argument("--write-schema", action="store_true", help="write kb/schema/entry.json anew from the model")


def run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from npu_kb import locations
    from npu_kb.gates.run import Request, check

    kb = Path(options.kb) if options.kb else None
    if options.write_schema:
        from npu_kb.knowledge.schema import write_schema

        write_schema(kb or Path(locations.builtin_kb_directory()))
    paths = [Path(path) for path in options.paths]
    report = check(Request(paths, kb, options.changed, options.stale_after, options.links))
    _write(report, options)
    return NONE if report.problems else FOUND


def _write(report: Report, options: argparse.Namespace) -> None:
    from npu_kb.render.check import report_document, report_text

    if options.format == "json":
        print_json(report_document(report))
    elif options.format == "sarif":
        from npu_kb.render.sarif import sarif_log

        print_json(sarif_log(report.found))
    elif options.format == "github":
        from npu_kb.render.annotations import annotation_lines

        sys.stdout.write(annotation_lines(report))
    elif options.format == "markdown":
        from npu_kb.gates.review import review
        from npu_kb.render.comment import comment

        sys.stdout.write(comment(report, review(report)))
    else:
        sys.stdout.write(report_text(report, options.table))
