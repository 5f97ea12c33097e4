"""`npu-kb show`."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import (
    FOUND,
    add_output,
    colour,
    language,
    load_knowledge,
    print_json,
    unknown_id,
    width,
)
from npu_kb.errors import NpuKbError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.render.document import entry_document
    from npu_kb.render.entry import entry_text
    from npu_kb.render.text import label

    knowledge = load_knowledge(options)
    entry = knowledge.entry(options.id)
    if entry is None:
        from npu_kb.codes.explain import explain

        if any(explanation.findings for explanation in explain([options.id], knowledge)):
            raise NpuKbError(f"{options.id!r} is a code, no id of an entry: run `npu-kb explain {options.id}`")
        raise NpuKbError(unknown_id(options.id, [e["id"] for e in (*knowledge.entries(), *knowledge.signatures())]))
    if entry["id"] != options.id:
        print(f"npu-kb: {options.id} {label('former', language(options))} {entry['id']}", file=sys.stderr)
    document = entry_document(entry, knowledge)
    if options.format == "json":
        print_json(document)
    else:
        sys.stdout.write(entry_text(document, language(options), colour(options), width()))
    return FOUND
