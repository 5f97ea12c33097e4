"""`npu-kb runbook`: the knowledge as Markdown, one file or a linked tree."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import FOUND, add_kb, add_language, language, load_knowledge
from npu_kb.errors import NpuKbError
from npu_kb.knowledge.commands import CHIPS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="PATH", help="a file, or a folder for --tree (default: standard output)")
    parser.add_argument("--tree", action="store_true", help="linked files below the folder --out, as MkDocs reads them")
    parser.add_argument("--topic", action="append", default=[], help="only this topic (may be given again)")
    parser.add_argument("--layer", action="append", default=[], help="only this layer (may be given again)")
    parser.add_argument("--chip", action="append", default=[], choices=CHIPS, help="what concerns this chip")
    parser.add_argument(
        "--version", action="append", default=[], metavar="NAME=VERSION", help="what may show on it: cann=8.1.RC1"
    )
    add_language(parser, "language (default: from the locale)")
    add_kb(parser)


def run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from npu_kb.files import write_file
    from npu_kb.render.text import counted
    from npu_kb.runbook.forms import make_book, one_file, write_tree
    from npu_kb.runbook.select import Selection

    if options.tree and not options.out:
        raise NpuKbError("--tree needs a folder: add --out DIR")
    versions = tuple(_version(text) for text in options.version)
    selection = Selection(tuple(options.topic), tuple(options.layer), tuple(options.chip), versions)
    book = make_book(load_knowledge(options), selection, language(options))
    if options.tree:
        files = write_tree(Path(options.out), book)
        print(f"npu-kb: {counted(files, 'file')} written below {options.out}; start with index.md", file=sys.stderr)
    elif options.out:
        write_file(Path(options.out), one_file(book))
    else:
        sys.stdout.write(one_file(book))
    return FOUND


def _version(text: str) -> tuple[str, str]:
    from typing import get_args

    from npu_kb.diagnosis.applies import parse_version
    from npu_kb.knowledge.entry import Component

    name, _, version = text.partition("=")
    if name not in get_args(Component):
        raise NpuKbError(f"--version {text}: {name!r} is no component; there are: {', '.join(get_args(Component))}")
    if parse_version(version) is None:
        raise NpuKbError(f"--version {text}: {version!r} is no version; write it as in cann=8.1.RC1")
    return name, version
