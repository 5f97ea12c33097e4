"""Problems as commands of a GitHub workflow, which show them beside the lines of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from npu_kb.intake.clean import printable
from npu_kb.render.check import shown, sum_line

if TYPE_CHECKING:
    from npu_kb.errors import Problem
    from npu_kb.gates.run import Report


def annotation_lines(report: Report) -> str:
    """One `::error` or `::warning` for each problem, then the sum as plain text."""
    return "".join(f"{line}\n" for line in [*map(_command, report.found), sum_line(report)])


def _command(problem: Problem) -> str:
    level = "warning" if problem.is_warning else "error"
    problem = shown(problem)
    places = {"file": str(problem.path), "line": str(problem.line), "col": str(problem.column), "title": problem.rule}
    properties = ",".join(f"{name}={_property(value)}" for name, value in places.items() if value)
    field = f"{problem.field}: " if problem.field else ""
    return f"::{level} {properties}::{_data(printable(field + problem.message))}"


def _data(text: str) -> str:
    """Text that ends where the command ends."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Text that ends where the property ends."""
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
