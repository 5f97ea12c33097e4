"""Problems as a SARIF 2.1.0 log, for code scanning and editors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from npu_kb.gates.rules import UNREADABLE, rule_summaries
from npu_kb.intake.clean import printable
from npu_kb.render.check import shown
from npu_kb.version import __version__

if TYPE_CHECKING:
    from npu_kb.errors import Problem

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif_log(found: list[Problem]) -> dict[str, Any]:
    """One run of one tool with a result for each problem; addresses of files are relative to the working folder."""
    rules = rule_summaries()
    numbers = {name: number for number, name in enumerate(rules)}
    driver = {
        "name": "npu-kb",
        "semanticVersion": __version__,
        "rules": [{"id": name, "shortDescription": {"text": text}} for name, text in rules.items()],
    }
    results = [_result(shown(problem), numbers) for problem in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(problem: Problem, numbers: dict[str, int]) -> dict[str, Any]:
    rule = problem.rule or UNREADABLE
    field = f"{problem.field}: " if problem.field else ""
    place = {
        "artifactLocation": {"uri": _uri(problem.path)},
        "region": {"startLine": problem.line, "startColumn": problem.column},
    }
    return {
        "ruleId": rule,
        "ruleIndex": numbers[rule],
        "level": "warning" if problem.is_warning else "error",
        "message": {"text": printable(field + problem.message)},
        "locations": [{"physicalLocation": place}],
    }


def _uri(path: Path) -> str:
    """A relative reference, or a file URI for what stands elsewhere."""
    return path.as_uri() if path.is_absolute() else quote(path.as_posix(), errors="surrogateescape")
