"""`npu-kb record --combination`: write a combination of versions that was tried into the ledger."""

from __future__ import annotations

import argparse
import sys
from typing import Any, get_args

from npu_kb.cli.options import FOUND
from npu_kb.errors import NpuKbError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of a combination; reference, kb and dry-run are those of `record`."""
    from npu_kb.knowledge.entry import Chip

    tried = parser.add_argument_group("a combination of versions that was tried, in place of a finding")
    tried.add_argument(
        "--combination", nargs="*", metavar="NAME=VERSION", help="its versions (none given: those of this machine)"
    )
    tried.add_argument("--result", choices=["works", "fails", "slow"], help="what came of it")
    tried.add_argument("--workload", metavar="TEXT", help="what was run")
    tried.add_argument("--chip", choices=get_args(Chip), help="on which chip")
    tried.add_argument("--operator", action="append", metavar="NAME", help="an operator that matters")
    tried.add_argument("--setting", action="append", metavar="NAME=VALUE", help="a setting that matters")
    tried.add_argument("--note", metavar="TEXT", help="a remark; --note-zh in Chinese")
    tried.add_argument("--note-zh", metavar="TEXT", help=argparse.SUPPRESS)
    tried.add_argument("--by", metavar="NAME", help="who tried it (default: git's user.name)")


def run(options: argparse.Namespace) -> int:
    """Write the combination that the options describe, and say where it stands."""
    from npu_kb.environment.tried import add_tried, tried_text
    from npu_kb.findings.write import chosen_kb
    from npu_kb.intake.clean import printable

    if not options.result or not options.workload:
        raise NpuKbError("a combination needs --result works|fails|slow and --workload TEXT")
    kb = chosen_kb(options.kb)
    combination = _combination(options, kb)
    if options.dry_run:
        sys.stdout.write(tried_text(combination))
    else:
        sys.stdout.write(f"{printable(str(add_tried(kb, combination)))}\n")
    return FOUND


def _combination(options: argparse.Namespace, kb: Any) -> dict[str, Any]:
    """The fields of a tried combination; what is not given is left out."""
    import datetime

    from npu_kb.findings.write import author_of

    versions = _pairs(options.combination, "--combination") or _versions_here()
    chip = versions.pop("chip", None)
    note = {lang: text for lang, text in (("en", options.note), ("zh", options.note_zh)) if text}
    fields = {
        "chip": options.chip or chip,
        "versions": versions,
        "operators": options.operator,
        "settings": _pairs(options.setting or [], "--setting"),
        "workload": options.workload,
        "result": options.result,
        "note": note,
        "by": options.by or author_of(kb) or "unknown",
        "date": datetime.date.today(),
        "reference": (options.reference or [None])[0],
    }
    return {name: value for name, value in fields.items() if value}


def _pairs(given: list[str], option: str) -> dict[str, str]:
    """NAME=VALUE texts as a dictionary."""
    pairs = [text.partition("=") for text in given]
    if wrong := next((name for name, _, value in pairs if not value), None):
        raise NpuKbError(f"{option} {wrong}: write NAME=VALUE")
    names = [name for name, _, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise NpuKbError(f"{option}: {twice} is given twice; give each name once")
    return {name: value for name, _, value in pairs}


def _versions_here() -> dict[str, str]:
    """The versions of this machine that a combination may name."""
    import os

    from npu_kb.environment.probe import probe
    from npu_kb.environment.root import Root
    from npu_kb.knowledge.base import Knowledge
    from npu_kb.knowledge.entry import Component
    from npu_kb.releases import is_release

    found = probe(Knowledge.load(), Root(), os.environ).plain_versions
    names = {*get_args(Component), "chip"}
    return {name: text for name, text in found.items() if name in names and (name == "chip" or is_release(text))}
