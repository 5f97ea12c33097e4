"""`npu-kb check`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="entry files or folders (default: all)")
    parser.add_argument("--kb", metavar="DIR", help="kb folder to check (default: the built-in one)")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write-schema", action="store_true", help="write kb/schema/entry.json anew from the model")


def run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from npu_kb.gates.run import check_command

    kb = Path(options.kb) if options.kb else None
    text, status = check_command([Path(p) for p in options.paths], kb, options.format, options.write_schema)
    sys.stdout.write(text)
    return status
