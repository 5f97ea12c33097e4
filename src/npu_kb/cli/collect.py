"""`npu-kb collect`."""

from __future__ import annotations

import argparse
import os
import re
import sys

from npu_kb.cli.options import (
    FOUND,
    NONE,
    add_output,
    colour,
    language,
    load_knowledge,
    positive,
    print_json,
    width,
)
from npu_kb.errors import NpuKbError

_UNITS = {"m": 60, "h": 3600, "d": 86400}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    about = parser.add_mutually_exclusive_group()
    about.add_argument("log", nargs="?", metavar="LOG", help="a log of the failure: it is kept, and says what else is")
    about.add_argument("--topic", help="what it is about, such as device-lost (see kb/topics.yaml)")
    parser.add_argument("--out", metavar="FILE.tar.gz", help="the archive (default: npu-kb-scene-TIME.tar.gz, here)")
    parser.add_argument("--since", type=_seconds, metavar="2h", help="only logs changed since then: 30m, 2h, 3d")
    parser.add_argument("--root", default="/", metavar="DIR", help="read files below this folder (default: /)")
    parser.add_argument(
        "--max-mb", type=positive, default=20, metavar="N", help="MB of text in the archive at most (default: 20)"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before it begins")
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from pathlib import Path

    from npu_kb.collect.keep import Request, keep
    from npu_kb.environment.running import interruptible
    from npu_kb.render.collect import collected_text, end_progress, progress, say

    if not Path(options.root).is_dir():
        raise NpuKbError(f"{options.root}: is no folder; --root names one that holds usr/, etc/ and dev/ of a machine")
    out = Path(options.out or _default_name())
    if not options.yes and sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        from npu_kb.cli.asking import agrees

        if not agrees(say("ask", language(options), path=out)):
            return NONE
    request = Request(out, options.log, options.topic, options.since, options.root, options.max_mb)
    try:
        with interruptible():
            document = keep(request, load_knowledge(options), os.environ, progress)
    finally:
        end_progress()
    if options.format == "json":
        print_json({"archive": str(out), **document})
    else:
        sys.stdout.write(collected_text(out, document, language(options), colour(options), width()))
    return FOUND


def _default_name() -> str:
    from datetime import datetime, timezone

    return f"npu-kb-scene-{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}.tar.gz"


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6})([mhd])", text)
    if not found:
        raise argparse.ArgumentTypeError("must be a span such as 30m, 2h or 3d")
    return float(found[1]) * _UNITS[found[2]]
