"""`npu-kb stats`: what fails most on this machine, and what the knowledge could not answer."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import FOUND, NONE, add_output, colour, language, load_knowledge, print_json, since, width


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--since", type=since, metavar="DATE", help="from this day or time on, such as 2026-11-29")
    parser.add_argument("--all", action="store_true", help="all rows, and the entries that were never named")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.findings.statistics import statistics
    from npu_kb.findings.store import Store
    from npu_kb.render.page import Page
    from npu_kb.render.statistics import statistics_text

    knowledge = load_knowledge(options)
    with Store.open() as store:
        document = statistics(store.diagnoses(since=options.since), store.reports(), knowledge)
    if options.format == "json":
        print_json(document)
    else:
        page = Page(language(options), colour(options), width())
        sys.stdout.write(statistics_text(document, page, options.all))
    return FOUND if document["diagnoses"] else NONE
