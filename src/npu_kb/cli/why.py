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
    hint_at_paste,
    language,
    load_knowledge,
    print_json,
    unknown_id,
    warn,
    width,
)
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.cli.beside import Machine
    from npu_kb.diagnosis.model import Diagnosis
    from npu_kb.environment.judge import Judgement
    from npu_kb.intake.facts import Known
    from npu_kb.intake.logtext import LogText
    from npu_kb.knowledge.base import Knowledge

_LEAST_VERSIONS = 2
"""That can be judged together."""


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
    for option in ("--timeline", "--by", "--plot"):
        parser.add_argument(option, nargs="?", action=_OfCluster, help=argparse.SUPPRESS)
    add_output(parser, ["text", "json", "markdown"])


class _OfCluster(argparse.Action):
    """An option that is looked for here, as the answer for a folder of ranks is that of `cluster`."""

    def __call__(self, parser: object, namespace: object, values: object, option: str | None = None) -> None:
        raise NpuKbError(f"why has no {option}: run `npu-kb cluster FOLDER {option}`")


def run(options: argparse.Namespace) -> int:
    from npu_kb.diagnosis.diagnose import diagnose
    from npu_kb.diagnosis.scan import LiteralInterest
    from npu_kb.findings.journal import Journal
    from npu_kb.intake.sources import read_logs

    hint_at_paste(options.files)
    if options.issue and options.format != "text":
        raise NpuKbError("--issue is Markdown already; leave --format out")
    may_be_cluster = _may_be_cluster(options)
    if may_be_cluster and _names_tell_several_ranks(options.files):
        return _story(options)
    knowledge = load_knowledge(options)
    log = read_logs(options.files, LiteralInterest(knowledge), warn)
    if may_be_cluster and _lines_tell_several_ranks(log):
        return _story(options)
    machine = None if options.env is None else _machine(options.env, knowledge)
    known = machine.known if machine else None
    if options.explain:
        return _account(options, log, knowledge, known)
    journal = Journal()
    diagnosis = diagnose(log, knowledge, feedback=journal.feedback, known=known)
    wrong = _wrong_pairs(diagnosis, machine, knowledge)
    _write(options, diagnosis, wrong, machine is not None, log, knowledge)
    journal.keep(diagnosis, options.files)
    return FOUND if diagnosis.claims or wrong else NONE


def _write(
    options: argparse.Namespace,
    diagnosis: Diagnosis,
    wrong: list[Judgement],
    with_machine: bool,
    log: LogText,
    knowledge: Knowledge,
) -> None:
    """The answer in the form that is asked for, and below it the versions that do not go together."""
    from npu_kb.render.document import diagnosis_document

    full = options.all or options.verbose
    document = diagnosis_document(diagnosis, knowledge, full or options.format != "text")
    if diagnosis.claims and diagnosis.claims[0].entry["layer"] == "communication":
        document["matches"][0]["waited_for"] = _waited_for(log)
    if options.issue:
        from npu_kb.render.issue import issue_text

        sys.stdout.write(issue_text(document, log, knowledge))
    elif options.format == "json":
        if with_machine or wrong:
            from npu_kb.cli.beside import document_with

            document = document_with(wrong, document)
        print_json(document)
    elif options.format == "markdown":
        from npu_kb.render.markdown import diagnosis_markdown

        sys.stdout.write(diagnosis_markdown(document, language(options)))
    else:
        from npu_kb.render.terminal import diagnosis_text

        sys.stdout.write(diagnosis_text(document, language(options), colour(options), width(), full))
    if wrong and options.format != "json":
        from npu_kb.cli.beside import write_wrong_pairs

        write_wrong_pairs(wrong, options)
    sys.stdout.flush()


def _machine(file: str, knowledge: Knowledge) -> Machine:
    from npu_kb.cli.beside import Machine

    return Machine(file, knowledge)


def _wrong_pairs(diagnosis: Diagnosis, machine: Machine | None, knowledge: Knowledge) -> list[Judgement]:
    """The versions that do not go together: with a machine always, else where the log names some and no cause is."""
    if machine:
        return machine.wrong_pairs(diagnosis.versions)
    if diagnosis.claims or len(diagnosis.versions) < _LEAST_VERSIONS:
        return []
    from npu_kb.cli.beside import wrong_pairs

    return wrong_pairs(diagnosis.versions, knowledge)


def _story(options: argparse.Namespace) -> int:
    """The answer of `cluster`, in place of one diagnosis of all logs together."""
    from npu_kb.cli.cluster import run_on_all
    from npu_kb.findings.journal import Journal

    if options.env is not None:
        warn("--env speaks of one machine and these are logs of several ranks: left out; see `npu-kb env judge`")
    status, story = run_on_all(options, options.files)
    Journal().keep_story(story, options.files)
    return status


def _may_be_cluster(options: argparse.Namespace) -> bool:
    """Whether folders or archives are given, and a form of answer is asked for that a story has."""
    if options.explain or options.issue or options.format == "markdown":
        return False
    from npu_kb.intake.sources import is_folder_or_archive

    return any(map(is_folder_or_archive, options.files))


def _names_tell_several_ranks(paths: list[str]) -> bool:
    from npu_kb.cluster.names import is_cluster
    from npu_kb.intake.archives import names_below

    try:
        return is_cluster([name for path in paths for name in names_below(path)])
    except OSError:
        return False  # whoever reads the files says why not


def _lines_tell_several_ranks(log: LogText) -> bool:
    from npu_kb.cluster.joined import JoinedLogs

    return JoinedLogs(log).ranks > 1


def _waited_for(log: LogText) -> list[dict[str, Any]]:
    """Whom the ranks of a log wait for, by how many, and a line that says so."""
    from npu_kb.cluster.joined import JoinedLogs

    return [
        {"party": suspect.party.name, "by": len(suspect.by), "line": suspect.clue.line, "source": suspect.clue.source}
        for suspect in JoinedLogs(log).waited_for()
        if suspect.clue
    ]


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
