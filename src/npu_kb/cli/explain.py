"""`npu-kb explain`."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import (
    add_output,
    colour,
    language,
    load_knowledge,
    width,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="+", metavar="CODE", help="507018, EZ9999, 0x7020016, ERR00100, -8020, EI ...")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.render.codes import explain_command

    text, status = explain_command(
        options.codes, load_knowledge(options), language(options), options.format, colour(options), width()
    )
    sys.stdout.write(text)
    return status
