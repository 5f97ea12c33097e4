"""The command line: parsers and calls; what is heavy is imported by the command that needs it.

Standard output carries only the answer. Exit status: 0 a cause was named (found, clean), 1 none, 2 bad usage or input.
"""

from __future__ import annotations

import argparse
import codecs
import gc
import io
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from npu_kb.errors import NpuKbError
from npu_kb.version import __version__

if TYPE_CHECKING:
    from npu_kb.intake.logtext import LogText
    from npu_kb.knowledge.base import Knowledge

FOUND, NONE, BAD = 0, 1, 2
_PASTE_HINT = """\
Paste the log, then press Enter and Ctrl-D. The terminal cuts lines at 4095 characters: give such a log as a file.
粘贴日志后按回车，再按 Ctrl-D 结束。终端会截断超过 4095 个字符的行，此类日志请以文件方式提供。"""


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
        status = int(options.run(options))
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
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, prog="npu-kb")
    for name, (help, add_arguments, run) in COMMANDS.items():
        command = commands.add_parser(name, help=help, description=help, formatter_class=_formatter)
        command.set_defaults(run=run)
        if not words or words[0] == name or words[0] not in COMMANDS:
            add_arguments(command)
    return parser


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Lines of a fixed width; the default would import shutil on every start."""
    return argparse.HelpFormatter(prog, width=100)


def _add_output(parser: argparse.ArgumentParser, formats: list[str]) -> None:
    parser.add_argument("--format", choices=formats, default="text", help="form of the answer (default: text)")
    parser.add_argument(
        "--lang", choices=["en", "zh", "both"], help="language of the answer (default: from the locale)"
    )
    parser.add_argument("--color", choices=["auto", "always", "never"], default="auto", help="colours (default: auto)")
    parser.add_argument("--kb", action="append", metavar="DIR", help="a private kb folder merged over the built-in one")


def _add_why(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="logs to read; `-` or none: standard input")
    parser.add_argument(
        "--explain", metavar="ID", help="say which conditions of an entry held, which not, and how near"
    )
    parser.add_argument("--issue", action="store_true", help="write a redacted issue for the right upstream tracker")
    parser.add_argument("--all", action="store_true", help="show every match at length")
    parser.add_argument("-v", "--verbose", action="store_true", help="as --all")
    _add_output(parser, ["text", "json", "markdown"])


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("codes", nargs="+", metavar="CODE", help="507018, EZ9999, 0x7020016, ERR00100, -8020, EI ...")
    _add_output(parser, ["text", "json"])


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="WORD")
    parser.add_argument("--limit", type=_positive, default=10, help="number of results (default: 10)")
    _add_output(parser, ["text", "json"])


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID")
    _add_output(parser, ["text", "json"])


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="entry files or folders (default: all)")
    parser.add_argument("--kb", metavar="DIR", help="kb folder to check (default: the built-in one)")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--write-schema", action="store_true", help="write kb/schema/entry.json anew from the model")


def _add_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("importer", metavar="IMPORTER", help="name of a module in importers/")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the importer's own arguments (try --help)")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _why(options: argparse.Namespace) -> int:
    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.diagnosis.scan import LiteralInterest
    from npu_kb.intake.sources import read_logs
    from npu_kb.render.document import diagnosis_document

    if options.files in ([], ["-"]) and sys.stdin is not None and sys.stdin.isatty():
        print(_PASTE_HINT, file=sys.stderr)
    if options.issue and options.format != "text":
        raise NpuKbError("--issue is Markdown already; leave --format out")
    knowledge = _knowledge(options)
    log = read_logs(options.files, LiteralInterest(knowledge.literals))
    if options.explain:
        return _account(options, log, knowledge)
    diagnosis = diagnose(log, knowledge)
    full = options.all or options.verbose
    document = diagnosis_document(diagnosis, knowledge, full or options.format != "text")
    if options.issue:
        from npu_kb.render.issue import issue_text

        sys.stdout.write(issue_text(document, log, knowledge))
    elif options.format == "json":
        _print_json(document)
    elif options.format == "markdown":
        from npu_kb.render.markdown import diagnosis_markdown

        sys.stdout.write(diagnosis_markdown(document, _language(options)))
    else:
        from npu_kb.render.terminal import diagnosis_text

        sys.stdout.write(diagnosis_text(document, _language(options), _colour(options), _width(), full))
    return FOUND if diagnosis.claims else NONE


def _account(options: argparse.Namespace, log: LogText, knowledge: Knowledge) -> int:
    from npu_kb.diagnosis.account import account

    document = account(log, options.explain, knowledge)
    if document is None:
        raise NpuKbError(_unknown_id(options.explain, [entry["id"] for entry in knowledge.entries()]))
    if options.format == "json":
        _print_json(document)
    else:
        from npu_kb.render.account import account_text

        sys.stdout.write(account_text(document, _language(options), _colour(options), _width()))
    return FOUND if document["matches"] else NONE


def _explain(options: argparse.Namespace) -> int:
    from npu_kb.render.codes import explain_command

    text, status = explain_command(
        options.codes, _knowledge(options), _language(options), options.format, _colour(options)
    )
    sys.stdout.write(text)
    return status


def _search(options: argparse.Namespace) -> int:
    from npu_kb.knowledge.fulltext import open_index
    from npu_kb.render.search import search_command

    knowledge = _knowledge(options)
    text, status = search_command(
        " ".join(options.words), open_index(knowledge), knowledge, _language(options), options.format, options.limit,
        _colour(options),
    )  # fmt: skip
    sys.stdout.write(text)
    return status


def _show(options: argparse.Namespace) -> int:
    from npu_kb.render.document import entry_document
    from npu_kb.render.entry import entry_text

    knowledge = _knowledge(options)
    entry = knowledge.entry(options.id)
    if entry is None:
        raise NpuKbError(_unknown_id(options.id, [e["id"] for e in knowledge.entries()]))
    document = entry_document(entry, knowledge)
    if options.format == "json":
        _print_json(document)
    else:
        sys.stdout.write(entry_text(document, _language(options), _colour(options), _width()))
    return FOUND


def _unknown_id(id: str, ids: list[str]) -> str:
    import difflib

    near = difflib.get_close_matches(id, ids, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else "`npu-kb search WORDS` finds entries"
    return f"no entry has the id {id!r}; {hint}"


def _check(options: argparse.Namespace) -> int:
    from pathlib import Path

    from npu_kb.gates.run import check_command

    kb = Path(options.kb) if options.kb else None
    text, status = check_command([Path(p) for p in options.paths], kb, options.format, options.write_schema)
    sys.stdout.write(text)
    return status


def _import(options: argparse.Namespace) -> int:
    from npu_kb.importing import run_importer

    return run_importer(options.importer, options.arguments)


def _knowledge(options: argparse.Namespace) -> Knowledge:
    from npu_kb import locations
    from npu_kb.intake.clean import printable
    from npu_kb.knowledge.base import Knowledge

    knowledge = Knowledge.load([*locations.overlay_directories(), *(options.kb or [])])
    if problems := knowledge.problems:
        more = (
            f" (and {len(problems) - 1} more: run `npu-kb check`, with --kb DIR for your own)"
            if len(problems) > 1
            else ""
        )
        print(f"npu-kb: warning: left out: {printable(problems[0])}{more}", file=sys.stderr)
    return knowledge


def _language(options: argparse.Namespace) -> str:
    """The language asked for, else Chinese in a Chinese locale, else English."""
    if options.lang:
        return str(options.lang)
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_MESSAGES") or os.environ.get("LANG") or ""
    return "zh" if locale.lower().startswith("zh") else "en"


def _colour(options: argparse.Namespace) -> bool:
    if options.color != "auto":
        return bool(options.color == "always")
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width() -> int:
    """Cells of an answer's line: the terminal's, between 60 and 100; 80 where there is none."""
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        columns = 80
    return max(60, min(100, columns))


def _print_json(document: Any) -> None:
    import json

    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[[argparse.Namespace], int]]] = {
    "why": ("Name the cause of a failure from what the terminal shows.", _add_why, _why),
    "explain": ("Explain error codes of any family; a prefix lists its family.", _add_explain, _explain),
    "search": ("Search the knowledge in English, Chinese or by code.", _add_search, _search),
    "show": ("Show one entry at length.", _add_show, _show),
    "check": ("Check knowledge: fields, samples, links, patterns, commands.", _add_check, _check),
    "import": ("Turn an outside source into knowledge.", _add_import, _import),
}
"""Of each command: what it does, its options, and the function that runs it."""
