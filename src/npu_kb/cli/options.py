"""What the commands share: exit statuses, options of an answer, and how they are read."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from npu_kb.settings import LANGUAGES, overlay_sources, preferred_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from npu_kb.knowledge.base import Knowledge

FOUND, NONE, BAD = 0, 1, 2
_PASTE_HINT = """\
Paste the log, then press Enter and Ctrl-D. The terminal cuts lines at 4095 characters: give such a log as a file.
粘贴日志后按回车，再按 Ctrl-D 结束。终端会截断超过 4095 个字符的行，此类日志请以文件方式提供。"""


def add_output(parser: argparse.ArgumentParser, formats: list[str]) -> None:
    parser.add_argument("--format", choices=formats, default="text", help="form of the answer (default: text)")
    add_language(parser, "language of the answer (default: from the locale)")
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="colours (default: auto)")
    add_kb(parser)


def add_language(parser: argparse._ActionsContainer, help: str) -> None:
    parser.add_argument("--lang", choices=LANGUAGES, help=help)


def add_kb(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--kb", action="append", metavar="DIR", help="a private kb folder merged over the built-in one")


def positive(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1_000_000_000:
        raise argparse.ArgumentTypeError("must be from 1 to 1000000000")
    return number


def since(text: str) -> str:
    """A day or time of this machine's clock as the store writes times: UTC."""
    from datetime import datetime, timezone

    try:
        time = datetime.fromisoformat(text).astimezone(timezone.utc)
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError("must be a day or time such as 2026-11-29 or 2026-11-29T08:00") from None
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def hint_at_paste(files: Sequence[str]) -> None:
    """Say how a log is pasted, if it is going to be."""
    if files in ([], ["-"]) and sys.stdin is not None and sys.stdin.isatty():
        print(_PASTE_HINT, file=sys.stderr)


def load_knowledge(options: argparse.Namespace) -> Knowledge:
    """The built-in knowledge with the user's own merged over it; what is left out is named on stderr."""
    from npu_kb.knowledge.base import Knowledge

    knowledge = Knowledge.load(overlay_folders(options))
    if problems := knowledge.problems:
        more = f" (and {len(problems) - 1} more: run `npu-kb check`, with --kb DIR for your own)"
        _warn(problems[0] + (more if len(problems) > 1 else ""))
    return knowledge


def overlay_folders(options: argparse.Namespace) -> list[str]:
    """The folders of the user's own knowledge.

    One that is given by --kb must be there. One that is set for good may be away for a while (a share that is
    not mounted), and the rest still answers; it is named on stderr.
    """
    there = []
    for source in overlay_sources(options.kb or []):
        if source.named_by == "--kb" or os.path.isdir(source.path):
            there.append(source.path)
        else:
            _warn(f"{source.path}: no such folder of knowledge, named by {source.named_by}")
    return there


def _warn(left_out: str) -> None:
    warn(f"left out: {left_out}")


def warn(text: str) -> None:
    """One line on standard error, whatever stands in the text."""
    from npu_kb.intake.clean import printable

    print(f"npu-kb: warning: {printable(text)}", file=sys.stderr)


def language(options: argparse.Namespace) -> str:
    """The language of an answer."""
    return language_of(options.lang)


def language_of(asked: str | None) -> str:
    """The language asked for, else the one of the settings, else Chinese in a Chinese locale, else English."""
    if chosen := asked or preferred_language():
        return str(chosen)
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"


def colour(options: argparse.Namespace) -> bool:
    if options.color != "auto":
        return bool(options.color == "always")
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def width() -> int:
    """Cells of an answer's line: the terminal's, between 30 and 100; 80 where there is none."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 0
    return max(30, min(100, columns or 80))


def print_json(document: Any) -> None:
    import json

    json.dump(document, sys.stdout, ensure_ascii=False, indent=2)
    sys.stdout.write("\n")


def unknown_id(id: str, ids: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(id, ids, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else "`npu-kb search WORDS` finds entries"
    return f"no entry has the id {id!r}; {hint}"
