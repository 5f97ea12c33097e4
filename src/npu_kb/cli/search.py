"""`npu-kb search`."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import (
    add_output,
    colour,
    language,
    load_knowledge,
    positive,
)
from npu_kb.errors import NpuKbError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("--limit", type=positive, default=10, help="number of results (default: 10)")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.knowledge.fulltext import open_index
    from npu_kb.render.search import search_command

    if not any(word.strip() for word in options.words):
        raise NpuKbError("search: no words are given; say what to look for, such as `npu-kb search hccl timeout`")
    knowledge = load_knowledge(options)
    text, status = search_command(
        " ".join(options.words), open_index(knowledge), knowledge, language(options), options.format, options.limit,
        colour(options),
    )  # fmt: skip
    sys.stdout.write(text)
    return status
