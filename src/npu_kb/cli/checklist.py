"""`npu-kb checklist`."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from npu_kb.cli.env import add_source, snapshot_of
from npu_kb.cli.options import (
    FOUND,
    NONE,
    add_output,
    colour,
    language,
    load_knowledge,
    print_json,
    width,
)
from npu_kb.errors import NpuKbError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="the checklist (default: list them all)")
    parser.add_argument("--env", action="store_true", help="tick what the facts of this machine prove")
    add_source(parser)
    add_output(parser, ["text", "markdown", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.render.checklist import checklist_document, is_disproved

    knowledge = load_knowledge(options)
    checklists = knowledge.checklists()
    with_facts = options.env or options.pasted or options.root != "/"
    if options.name is None and not with_facts:
        return _list(checklists, options)
    if options.name not in checklists:
        said = f"no checklist has the name {options.name!r}" if options.name else "name the checklist to tick"
        raise NpuKbError(f"{said}; there are: {', '.join(checklists)}")
    checklist, ticked = checklists[options.name], None
    if with_facts:
        from npu_kb.environment.ticks import ticks

        ticked = ticks(checklist, snapshot_of(options), knowledge)
    document = checklist_document(checklist, knowledge.commands(), ticked)
    _write(document, options)
    return NONE if is_disproved(document) else FOUND


def _list(checklists: dict[str, dict[str, Any]], options: argparse.Namespace) -> int:
    from npu_kb.render.checklist import checklists_text

    if options.format == "json":
        print_json({"checklists": [{name: c[name] for name in ("id", "title", "when")} for c in checklists.values()]})
    else:
        sys.stdout.write(checklists_text(checklists, language(options), colour(options), width()))
    return FOUND


def _write(document: dict[str, Any], options: argparse.Namespace) -> None:
    from npu_kb.render.checklist import checklist_markdown, checklist_text

    if options.format == "json":
        print_json(document)
    elif options.format == "markdown":
        sys.stdout.write(checklist_markdown(document, language(options)))
    else:
        sys.stdout.write(checklist_text(document, language(options), colour(options), width()))
