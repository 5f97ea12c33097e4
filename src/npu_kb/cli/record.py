"""`npu-kb record`: from a finding to a valid entry."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from npu_kb.cli import combination
from npu_kb.cli.options import FOUND, add_language, hint_at_paste, language, positive, width
from npu_kb.errors import NpuKbError

if TYPE_CHECKING:
    from npu_kb.findings.draft import Draft
    from npu_kb.intake.logtext import LogText
    from npu_kb.knowledge.base import Knowledge

_SAID = {
    "title": "the cause in one line",
    "cause": "why it happens",
    "fix": "what ends it",
    "symptom": "what one sees (default: a line of the log)",
    "verify": "how to see that it is fixed",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from npu_kb.knowledge.entry import Effect, Layer, Role, Severity, Verdict

    source = parser.add_argument_group("what it is about")
    source.add_argument("files", nargs="*", metavar="FILE", help="logs to read; `-` or none: standard input")
    source.add_argument("--last", action="store_true", help="the last log for which `why` named no cause")
    source.add_argument("--resume", type=positive, metavar="N", help="an unfinished finding")
    source.add_argument("--list", action="store_true", help="list the unfinished findings")
    source.add_argument("--drop", type=positive, metavar="N", help="remove an unfinished finding")
    said = parser.add_argument_group("what is said of it; --title in English and --title-zh in Chinese, and so on")
    for name, meaning in _SAID.items():
        said.add_argument(f"--{name}", metavar="TEXT", help=meaning)
        said.add_argument(f"--{name}-zh", metavar="TEXT", help=argparse.SUPPRESS)
    said.add_argument("--fix-run", metavar="CMD", help="the command of the fix")
    said.add_argument("--fix-effect", choices=get_args(Effect), help="what the fix does (default: write)")
    said.add_argument("--reference", action="append", metavar="URL|TEXT", help="where it is known from")
    said.add_argument("--miss", metavar="TEXT", help="a text that looks like it and means something else")
    filed = parser.add_argument_group("how it is filed; proposed where left out")
    filed.add_argument("--id", metavar="ID", help="its name, which is that of the file")
    filed.add_argument("--layer", choices=get_args(Layer))
    filed.add_argument("--topic", metavar="TOPIC", help="one of kb/topics.yaml")
    filed.add_argument("--severity", choices=get_args(Severity))
    filed.add_argument("--role", choices=get_args(Role))
    filed.add_argument("--pick", metavar="N,N", help="which of the proposed texts recognise it (default: 1)")
    filed.add_argument(
        "--proves",
        choices=get_args(Verdict),
        help="what they prove (default: likely; possible where other faults print it too)",
    )
    done = parser.add_argument_group("what is done with it")
    done.add_argument("--edit", action="store_true", help="edit the entry in $VISUAL or $EDITOR until it is clean")
    done.add_argument("--kb", metavar="DIR", help="kb folder for it (default: NPU_KB_PATH, then the checkout's kb)")
    done.add_argument("--out", metavar="FILE", help="write it there instead; `-`: to standard output")
    done.add_argument("--dry-run", action="store_true", help="show it, write nothing")
    done.add_argument("--yes", action="store_true", help="ask nothing")
    add_language(done, "language of the questions")
    combination.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    from npu_kb.cli.desk import Desk
    from npu_kb.findings.recording import Recording
    from npu_kb.findings.write import chosen_kb, companions
    from npu_kb.knowledge.base import Knowledge

    if options.combination is not None:
        return combination.run(options)
    if options.list or options.drop:
        return _manage(options)
    if sum((bool(options.files), options.last, bool(options.resume))) > 1:
        raise NpuKbError("give only one of FILE, --last and --resume")
    kb = None if options.out else chosen_kb(options.kb)
    directories = companions(kb or (Path(options.kb) if options.kb else None))
    knowledge = Knowledge.load(map(str, directories[1:]))
    draft, log = _start(options, knowledge)
    _fill(draft, options)
    return Desk(options, Recording(draft, log, knowledge, directories), kb).run()


def _manage(options: argparse.Namespace) -> int:
    """List the unfinished findings, or drop one."""
    from npu_kb.findings.store import Store
    from npu_kb.render.record import findings_text, say

    lang = language(options)
    with Store.open() as store:
        if options.list:
            sys.stdout.write(findings_text(store.findings(), lang, width()))
        elif store.drop_finding(options.drop):
            sys.stdout.write(say("dropped", lang, number=options.drop) + "\n")
        else:
            raise NpuKbError(f"there is no finding {options.drop}; `npu-kb record --list` lists them")
    return FOUND


def _start(options: argparse.Namespace, knowledge: Knowledge) -> tuple[Draft, LogText]:
    """The draft of the log or finding that the options name, and the log as far as it is at hand."""
    from npu_kb.diagnosis.scan import LiteralInterest
    from npu_kb.findings.draft import Draft
    from npu_kb.findings.proposals import excerpt_log
    from npu_kb.intake.logtext import LogText
    from npu_kb.intake.sources import read_logs

    if options.resume:
        draft = Draft.from_document(_finding(options.resume))
        return draft, excerpt_log(draft.excerpt)
    if options.last:
        log = LogText.of(_last_paste())
    else:
        hint_at_paste(options.files)
        log = read_logs(options.files, LiteralInterest(knowledge))
    draft = Draft.of(log)
    if not draft.excerpt:
        raise NpuKbError("the log is empty; give one that shows the error")
    return draft, log


def _finding(number: int) -> dict[str, object]:
    from npu_kb.findings.store import Store

    with Store.open() as store:
        if row := store.finding(number):
            return dict(row["document"])
    raise NpuKbError(f"there is no finding {number}; `npu-kb record --list` lists them")


def _last_paste() -> str:
    from npu_kb.findings.store import Store

    with Store.open() as store:
        row = store.last_unanswered()
    if row is None:
        raise NpuKbError("no diagnosis without an answer was kept; give the log as FILE")
    print(f"npu-kb: diagnosis {row['id']} of {row['time']}: {', '.join(row['sources'])}", file=sys.stderr)
    return str(row["paste"])


def _fill(draft: Draft, options: argparse.Namespace) -> None:
    """Take over what the options say."""
    from npu_kb.findings.draft import language_of
    from npu_kb.intake.redact import redact

    given = {name: getattr(options, name) for name in ("id", "layer", "topic", "severity", "role")}
    given |= {"fix.run": options.fix_run, "fix.effect": options.fix_effect}
    for name in _SAID:
        if text := getattr(options, name):
            given[f"{name}.{language_of(text)}"] = text
        if text := getattr(options, f"{name}_zh"):
            given[f"{name}.zh"] = text
    given = {path: value for path, value in given.items() if value}
    if given and draft.text:
        raise NpuKbError("this finding was edited by hand; go on with --edit, without options that change it")
    for path, value in given.items():
        draft.set(path, value)
    if options.reference:
        draft.set("references", [{"url" if _is_address(text) else "source": text} for text in options.reference])
    if options.miss:
        draft.set("samples.miss", [redact(options.miss)])


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://")) and not any(char.isspace() for char in text)
