"""The command line: a module for each command, imported only when it is called.

A command's module has `add_arguments(parser)` and `run(options)`, which returns the exit status: 0 a cause was named
(found, clean), 1 none, 2 bad usage or input. Standard output carries only the answer.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import io
import os
import sys
from importlib import import_module
from typing import Any

from npu_kb.cli.options import BAD, FOUND
from npu_kb.errors import NpuKbError
from npu_kb.version import __version__

COMMANDS: dict[str, tuple[str, str]] = {
    "why": ("why", "Name the cause of a failure from what the terminal shows."),
    "explain": ("explain", "Explain error codes of any family; a prefix lists its family."),
    "search": ("search", "Search the knowledge in English, Chinese or by code."),
    "show": ("show", "Show one entry at length."),
    "check": ("check", "Check knowledge: fields, samples, links, patterns, commands."),
    "runbook": ("runbook", "Write the knowledge as Markdown, one file or a linked tree."),
    "sources": ("sources", "List the folders of knowledge and what each adds or replaces."),
    "import": ("import_", "Turn an outside source into knowledge."),
}
"""The module and the summary of each command."""


def run() -> int:
    """The console script: `main`, without the fifth of its time that collecting garbage would take."""
    gc.set_threshold(200_000)
    status = main()
    gc.freeze()
    return status


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = [_readable(word) for word in (sys.argv[1:] if arguments is None else arguments)]
    _forgiving_streams()
    try:
        options = build_parser(words[:1]).parse_args(words)
        status = int(_module(options.command).run(options))
        sys.stdout.flush()
        return status
    except NpuKbError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _fail(f"the answer cannot be written: {error.strerror}")


def _fail(message: str) -> int:
    from npu_kb.intake.clean import printable

    if sys.stderr is not None:
        print(f"npu-kb: {printable(' '.join(message.split()))}", file=sys.stderr)
    return BAD


def _readable(word: str) -> str:
    """An argument that can be printed: file names keep their bytes, which show as replacement characters elsewhere."""
    return word if os.access(word, os.F_OK) else word.encode("utf-8", "replace").decode()


def _forgiving_streams() -> None:
    """Never die of a character that a terminal cannot show, nor of a closed stream; plain ASCII becomes UTF-8."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            ascii_only = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding="utf-8" if ascii_only else None, errors="replace")


def build_parser(words: list[str] | None = None) -> argparse.ArgumentParser:
    """The parser of all commands; with the command line's first word, options are added to that command only."""
    summary = "Troubleshooting assistant for Ascend NPU stacks."
    parser = argparse.ArgumentParser(prog="npu-kb", description=summary, formatter_class=_formatter)
    parser.add_argument("--version", action="version", version=f"npu-kb {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True, prog="npu-kb")
    for name, (_, help) in COMMANDS.items():
        command = commands.add_parser(name, help=help, description=help, formatter_class=_formatter)
        if not words or words[0] == name or words[0] not in COMMANDS:
            _module(name).add_arguments(command)
    return parser


def _module(command: str) -> Any:
    return import_module(f"npu_kb.cli.{COMMANDS[command][0]}")


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Lines of a fixed width; the default would import shutil on every start."""
    return argparse.HelpFormatter(prog, width=100)
