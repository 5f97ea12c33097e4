"""`npu-kb cluster`: which rank of a job failed first, and why, from the logs of all of them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_kb.cli.options import (
    BAD,
    FOUND,
    NONE,
    add_output,
    colour,
    language,
    load_knowledge,
    print_json,
    width,
)
from npu_kb.cli.scan import add_selection, only_lines, selected_rows
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.cluster.gaps import Gaps
    from npu_kb.cluster.observation import Row
    from npu_kb.cluster.scans import Scans
    from npu_kb.knowledge.base import Knowledge

_BY = ["rank", "host", "device"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="folders, archives and logs of all ranks")
    add_selection(parser)
    add_telling(parser)


def add_telling(parser: argparse.ArgumentParser) -> None:
    """The options that say how the answer is shown."""
    parser.add_argument("--timeline", action="store_true", help="the first event of each rank, in the order of time")
    parser.add_argument("--by", choices=_BY, help="as --timeline, for each rank, host or device")
    parser.add_argument(
        "--plot", type=_picture, metavar="FILE.svg", help="draw the timeline; the name ends in .svg or .html"
    )
    add_output(parser, ["text", "json"])


def run(options: argparse.Namespace) -> int:
    rows = selected_rows(options)
    if (first := next(rows, None)) is None:
        chosen = " that --include and --exclude select" if options.include or options.exclude else ""
        raise NpuKbError(f"{' '.join(options.paths)}: holds no files{chosen}; give the folder that holds the logs")
    return tell(options, chain([first], rows), load_knowledge(options))[0]


def run_on_all(options: argparse.Namespace, paths: list[str]) -> tuple[int, dict[str, Any]]:
    """As `tell`, for a command without options that select: everything at and below the paths."""
    parser = argparse.ArgumentParser()
    add_selection(parser)
    everything = argparse.Namespace(**{**vars(parser.parse_args([])), **vars(options), "paths": paths})
    return tell(everything, selected_rows(everything), load_knowledge(everything))


def _gaps(options: argparse.Namespace) -> Gaps:
    """What the options leave out of the logs."""
    from npu_kb.cluster.gaps import Gaps, Lines

    gaps = Gaps()
    if bounds := only_lines(options):
        gaps.add("", Lines(**bounds))
    return gaps


def tell(
    options: argparse.Namespace, rows: Iterable[Row], knowledge: Knowledge, scans: Scans | None = None
) -> tuple[int, dict[str, Any]]:
    """Show the story of the rows as the options ask; the exit status, and the story. `scans` they are of, if any."""
    from npu_kb.cluster.timeline import story_of
    from npu_kb.render.cluster_document import cluster_document

    story = story_of(rows, knowledge, scans.gaps if scans else _gaps(options))
    document = cluster_document(story, knowledge, scans.left_out if scans else [])
    if options.format == "json":
        print_json(document)
    else:
        sys.stdout.write(_text(document, options))
    if plot := getattr(options, "plot", None):
        sys.stdout.flush()  # a picture that cannot be written takes no answer away
        _draw(document, plot)
    return FOUND if document["faults"] else BAD if document["sources"]["left_out"] else NONE, document


def _text(document: dict[str, Any], options: argparse.Namespace) -> str:
    from npu_kb.render.cluster import cluster_text, timeline_text
    from npu_kb.render.page import Page

    page = Page(language(options), colour(options), width())
    by = getattr(options, "by", None) or ("rank" if getattr(options, "timeline", False) else "")
    return timeline_text(document, page, by) if by else cluster_text(document, page, _command(options))


def _command(options: argparse.Namespace) -> str:
    """The command that tells the same and, with further options, more."""
    from npu_kb.intake.clean import printable

    name, paths = ("merge", options.scans) if "scans" in options else ("cluster", options.paths)
    return printable(f"npu-kb {name} {shlex.join(paths)}")


def _picture(path: str) -> str:
    if _form(path) not in ("svg", "html"):
        raise argparse.ArgumentTypeError("draws .svg or .html; name the file so")
    return path


def _form(path: str) -> str:
    return path.lower().rpartition(".")[2]


def _draw(document: dict[str, Any], path: str) -> None:
    from npu_kb.files import write_file
    from npu_kb.render.timeline_svg import timeline_html, timeline_svg

    write_file(Path(path), timeline_svg(document) if _form(path) == "svg" else timeline_html(document))
