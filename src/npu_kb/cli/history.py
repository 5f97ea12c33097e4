"""`npu-kb history`: what was diagnosed on this machine, and what is still to be recorded."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import FOUND, NONE, add_output, colour, language, positive, print_json, since, width


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", nargs="?", type=positive, metavar="N", help="only the diagnosis of this number")
    parser.add_argument("--limit", type=positive, default=20, help="number of diagnoses (default: 20)")
    parser.add_argument("--since", type=since, metavar="DATE", help="from this day or time on, such as 2026-11-29")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.findings.feedback import known_diagnosis
    from npu_kb.findings.store import Store
    from npu_kb.render.history import history_text
    from npu_kb.render.page import Page

    with Store.open() as store:
        if options.number:
            diagnoses = [known_diagnosis(store, options.number)]
        else:
            diagnoses = store.diagnoses(options.limit, options.since)
        findings, feedback = store.findings(), store.feedback()
    if options.format == "json":
        print_json({"schema": "npu-kb/history/1", "diagnoses": diagnoses, "findings": findings})
    else:
        page = Page(language(options), colour(options), width())
        sys.stdout.write(history_text(diagnoses, [] if options.number else findings, feedback, page))
    return FOUND if diagnoses or findings else NONE
