"""A check's report for a terminal and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from npu_kb.files import real
from npu_kb.intake.clean import printable
from npu_kb.render.text import counted

if TYPE_CHECKING:
    from npu_kb.errors import Problem
    from npu_kb.gates.run import Report
    from npu_kb.gates.tally import Tally

SCHEMA = "npu-kb/check/1"
FEW = 10
"""Entries whose counts are shown without being asked for."""
_COLUMNS = ("TP", "TN", "FP", "FN")
_LEGEND = """\
TP: hit samples answered first; TN: near-misses on which it is quiet; FN: hit samples answered otherwise;
FP: claims on near-misses, good texts and other entries' samples"""


def report_text(report: Report, table: bool) -> str:
    """All problems and warnings, one a line; the table of counts if it is asked for or short; the sum."""
    lines = [printable(str(shown(problem))) for problem in report.found]
    if report.tallies and (table or len(report.tallies) <= FEW):
        lines += table_lines(report.tallies)
    return "".join(f"{line}\n" for line in [*lines, sum_line(report)])


def sum_line(report: Report) -> str:
    """How much was checked, and what was found."""
    checked = counted(len(report.items), "entry", "entries")
    if report.signatures:
        checked += f" and {counted(report.signatures, 'one-line fault')}"
    files = len({problem.path for problem in report.problems})
    wrong = f"{counted(len(report.problems), 'problem')} in {counted(files, 'file')}" if files else "no problems"
    judged = f", {counted(len(report.warnings), 'warning')}" if report.warnings else ""
    return f"{checked} checked: {wrong}{judged}"


def table_lines(tallies: list[Tally]) -> list[str]:
    """The counts of each entry and their sums, the entries that are not clean first."""
    rows = [(t.id, *_counts(t)) for t in sorted(tallies, key=lambda t: (t.is_clean, t.id))]
    sums = ("all", *(sum(column) for column in zip(*map(_counts, tallies), strict=True)))
    width = max(len(row[0]) for row in [*rows, sums])
    body = [*rows, sums] if len(rows) > 1 else rows
    shown = [f"{name:<{width}}" + "".join(f"{value:>6}" for value in values) for name, *values in body]
    return [f"{'entry':<{width}}" + "".join(f"{name:>6}" for name in _COLUMNS), *shown, _LEGEND]


def _counts(tally: Tally) -> tuple[int, int, int, int]:
    return tally.true_positives, tally.true_negatives, tally.false_positives, tally.false_negatives


def report_document(report: Report) -> dict[str, Any]:
    """The report as plain values: {"schema", "checked", "signatures", "problems", "warnings", "table"}."""
    return {
        "schema": SCHEMA,
        "checked": len(report.items),
        "signatures": report.signatures,
        "problems": [_row(problem) for problem in report.problems],
        "warnings": [_row(problem) for problem in report.warnings],
        "table": [tally._asdict() for tally in report.tallies],
    }


def _row(problem: Problem) -> dict[str, Any]:
    return {**problem._asdict(), "path": str(problem.path)}


def shown(problem: Problem) -> Problem:
    """The problem with its path as seen from the working folder; a link keeps its own name."""
    try:
        return problem._replace(path=(real(problem.path.parent) / problem.path.name).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return problem
