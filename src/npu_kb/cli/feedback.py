"""`npu-kb feedback`: say whether an answer was right; what a team found wrong is shown less sure."""

from __future__ import annotations

import argparse
import re
import sys
from typing import TYPE_CHECKING

from npu_kb.cli.options import (
    FOUND,
    NONE,
    add_output,
    colour,
    language,
    load_knowledge,
    positive,
    print_json,
    unknown_id,
    width,
)
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.findings.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("verdict", nargs="?", choices=["right", "wrong"], help="was the answer right?")
    parser.add_argument(
        "entry",
        nargs="?",
        metavar="ENTRY|N",
        help="id of an entry (default: the first answer), or the number of a diagnosis",
    )
    parser.add_argument(
        "--diagnosis", type=positive, metavar="N", help="number in `npu-kb history` (default: the last)"
    )
    parser.add_argument("--note", default="", metavar="TEXT", help="what it was instead; kept redacted")
    parser.add_argument("--undo", type=positive, metavar="N", help="withdraw feedback number N")
    parser.add_argument("--list", action="store_true", help="list all feedback")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.findings.store import Store

    if [bool(options.verdict), bool(options.undo), options.list].count(True) != 1:
        raise NpuKbError("give one of these: right, wrong, --undo N, --list")
    with Store.open() as store:
        if options.list:
            return _list(options, store)
        return _undo(options, store) if options.undo else _report(options, store)


def _report(options: argparse.Namespace, store: Store) -> int:
    from npu_kb.findings.feedback import report
    from npu_kb.render.history import reported_text

    if options.entry and not options.diagnosis and re.fullmatch("[1-9][0-9]{0,8}", options.entry):
        options.diagnosis, options.entry = int(options.entry), None
    entry = _known(options) if options.entry else None
    row = report(store, options.verdict, entry, options.diagnosis, options.note)
    if options.format == "json":
        print_json(row)
    else:
        sys.stdout.write(reported_text(row, language(options)))
    return FOUND


def _known(options: argparse.Namespace) -> str:
    """The present id of the entry that was named."""
    knowledge = load_knowledge(options)
    if entry := knowledge.entry(options.entry):
        return str(entry["id"])
    raise NpuKbError(unknown_id(options.entry, [entry["id"] for entry in knowledge.entries()]))


def _undo(options: argparse.Namespace, store: Store) -> int:
    from npu_kb.render.history import say

    if not store.withdraw_feedback(options.undo):
        raise NpuKbError(f"there is no feedback {options.undo}; `npu-kb feedback --list` shows all")
    if options.format == "json":
        print_json({"withdrawn": options.undo})
    else:
        sys.stdout.write(say("withdrawn", language(options), id=options.undo) + "\n")
    return FOUND


def _list(options: argparse.Namespace, store: Store) -> int:
    from npu_kb.render.history import feedback_text
    from npu_kb.render.page import Page

    rows = store.feedback()
    if options.format == "json":
        print_json({"schema": "npu-kb/feedback/1", "feedback": rows})
    else:
        sys.stdout.write(feedback_text(rows, Page(language(options), colour(options), width())))
    return FOUND if rows else NONE
