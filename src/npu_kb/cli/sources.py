"""`npu-kb sources`: the folders of knowledge that are merged, and what each of them adds or replaces."""

from __future__ import annotations

import argparse
import sys

from npu_kb.cli.options import FOUND, add_output, language, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.knowledge.sources import knowledge_sources
    from npu_kb.render.sources import sources_text
    from npu_kb.settings import overlay_sources

    rows = knowledge_sources(overlay_sources(options.kb or []))
    if options.format == "json":
        print_json({"schema": "npu-kb/sources/1", "sources": rows})
    else:
        sys.stdout.write(sources_text(rows, language(options)))
    return FOUND
