"""`npu-kb why`."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from npu_kb.cli.options import (
    FOUND,
    NONE,
    add_output,
    colour,
    language,
    load_knowledge,
    print_json,
    unknown_id,
    width,
)
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement
    from npu_kb.environment.snapshot import Snapshot
    from npu_kb.intake.facts import Known
    from npu_kb.intake.logtext import LogText
    from npu_kb.knowledge.base import Knowledge

PASTE_HINT = """\
Paste the log, then press Enter and Ctrl-D. The terminal cuts lines at 4095 characters: give such a log as a file.
粘贴日志后按回车，再按 Ctrl-D 结束。终端会截断超过 4095 个字符的行，此类日志请以文件方式提供。"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="logs to read; `-` or none: standard input")
    parser.add_argument(
        "--explain", metavar="ID", help="say which conditions of an entry held, which not, and how near"
    )
    parser.add_argument(
        "--env",
        nargs="?",
        const="",
        metavar="SNAPSHOT",
        help="count in what this machine, or a snapshot kept by `env save`, says; write it behind the logs",
    )
    parser.add_argument("--issue", action="store_true", help="write a redacted issue for the right upstream tracker")
    parser.add_argument("--all", action="store_true", help="show every match at length")
    parser.add_argument("-v", "--verbose", action="store_true", help="as --all")
    add_output(parser, ["text", "json", "markdown"])


def run(options: argparse.Namespace) -> int:
    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.diagnosis.scan import LiteralInterest
    from npu_kb.findings.journal import Journal
    from npu_kb.intake.sources import read_logs
    from npu_kb.render.document import diagnosis_document

    if options.files in ([], ["-"]) and sys.stdin is not None and sys.stdin.isatty():
        print(PASTE_HINT, file=sys.stderr)
    if options.issue and options.format != "text":
        raise NpuKbError("--issue is Markdown already; leave --format out")
    knowledge = load_knowledge(options)
    log = read_logs(options.files, LiteralInterest(knowledge.literals))
    snapshot = None if options.env is None else _snapshot(options.env, knowledge)
    known = _known(snapshot)
    if options.explain:
        return _account(options, log, knowledge, known)
    journal = Journal()
    diagnosis = diagnose(log, knowledge, feedback=journal.feedback, known=known)
    wrong = _wrong_pairs(snapshot, knowledge, diagnosis.versions)
    full = options.all or options.verbose
    document = diagnosis_document(diagnosis, knowledge, full or options.format != "text")
    if options.issue:
        from npu_kb.render.issue import issue_text

        sys.stdout.write(issue_text(document, log, knowledge))
    elif options.format == "json":
        print_json(document if snapshot is None else {**document, "judgement": _judgement_document(wrong)})
    elif options.format == "markdown":
        from npu_kb.render.markdown import diagnosis_markdown

        sys.stdout.write(diagnosis_markdown(document, language(options)))
    else:
        from npu_kb.render.terminal import diagnosis_text

        sys.stdout.write(diagnosis_text(document, language(options), colour(options), width(), full))
    if wrong and options.format != "json":
        _write_wrong_pairs(wrong, options)
    sys.stdout.flush()
    journal.keep(diagnosis, options.files)
    return FOUND if diagnosis.claims or wrong else NONE


def _snapshot(file: str, knowledge: Knowledge) -> Snapshot:
    from npu_kb.environment.evidence import snapshot_beside

    return snapshot_beside(file, knowledge)


def _known(snapshot: Snapshot | None) -> Known | None:
    if snapshot is None:
        return None
    from npu_kb.environment.evidence import known

    return known(snapshot)


def _wrong_pairs(snapshot: Snapshot | None, knowledge: Knowledge, versions: dict[str, str]) -> list[Judgement]:
    """The versions of machine and log that do not go together."""
    if snapshot is None:
        return []
    from npu_kb.environment.evidence import judged, unsupported

    return unsupported(judged(snapshot, knowledge, versions))


def _judgement_document(wrong: list[Judgement]) -> dict[str, Any]:
    from npu_kb.render.judgement import judgement_document

    return judgement_document(wrong)


def _write_wrong_pairs(wrong: list[Judgement], options: argparse.Namespace) -> None:
    from npu_kb.render.judgement import judgement_text

    is_text = options.format == "text" and not options.issue
    text = judgement_text(wrong, language(options), is_text and colour(options), width())
    sys.stdout.write(f"\n{text}" if is_text else f"\n```text\n{text}```\n")


def _account(options: argparse.Namespace, log: LogText, knowledge: Knowledge, known: Known | None) -> int:
    from npu_kb.diagnosis.account import account

    document = account(log, options.explain, knowledge, known)
    if document is None:
        raise NpuKbError(unknown_id(options.explain, [entry["id"] for entry in knowledge.entries()]))
    if options.format == "json":
        print_json(document)
    else:
        from npu_kb.render.account import account_text

        sys.stdout.write(account_text(document, language(options), colour(options), width()))
    return FOUND if document["matches"] else NONE
