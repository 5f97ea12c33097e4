"""`npu-kb tui`."""

from __future__ import annotations

import argparse
import os
import sys
from functools import partial

from npu_kb.cli.options import FOUND, add_kb, add_language, language, load_knowledge
from npu_kb.errors import NpuKbError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="LOG", help="logs or folders of logs to diagnose at once")
    add_language(parser, "language to start in (default: from the settings or the locale)")
    add_kb(parser)


def run(options: argparse.Namespace) -> int:
    if not all(map(_is_terminal, (sys.stdin, sys.stdout, sys.stderr))) or os.environ.get("TERM", "dumb") == "dumb":
        raise NpuKbError("tui needs a terminal for input and output; without one use `npu-kb why` or `npu-kb search`")
    from npu_kb import locations
    from npu_kb.tui.app import KnowledgeApp

    app = KnowledgeApp(
        partial(load_knowledge, options), language(options), options.files, locations.tui_state_file(),
        options.kb[-1] if options.kb else None,
    )  # fmt: skip
    app.run()
    if app.return_code:
        raise NpuKbError(f"the screen failed: {app.failure}; please report it, with what you did last")
    return FOUND


def _is_terminal(stream: object) -> bool:
    return stream is not None and bool(getattr(stream, "isatty", bool)())
