"""Gate on silence: no entry claims a fault on logs of healthy machines and of other stacks (kb/goodlogs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.diagnosis.model import Match
from npu_kb.errors import Problem
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.yamlfile import read_yaml

SEPARATOR = "%%"
ALLOWED = "allowed.yaml"
_ALLOWED_KEYS = {"text", "entry", "why"}


class GoodText(NamedTuple):
    """A text on which nothing may be claimed, and the line of its file on which it starts."""

    path: Path
    line: int
    text: str


def good_texts(kb_dir: Path) -> list[GoodText]:
    """All texts of kb_dir/goodlogs/*.log: what stands between `%%` lines, below a header of `#` lines."""
    return [text for path in sorted((kb_dir / "goodlogs").glob("*.log")) for text in _texts_of(path)]


def _texts_of(path: Path) -> Iterator[GoodText]:
    lines = path.read_text("utf-8").splitlines()
    start = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    ends = [i for i in range(start, len(lines)) if lines[i] == SEPARATOR]
    for end in [*ends, len(lines)]:
        if text := "\n".join(lines[start:end]):
            yield GoodText(path, start + 1, text + "\n")
        start = end + 1


def silence_problems(kb_dir: Path, knowledge: Knowledge, ids: Iterable[str]) -> list[Problem]:
    """A problem for each good text on which one of these entries claims a fault and that is not allowed for."""
    wanted = set(ids)
    allowed, problems = _read_allowed(kb_dir / "goodlogs" / ALLOWED)
    for good in good_texts(kb_dir):
        for match in diagnose(good.text, knowledge, suggest=False).claims:
            entry = match.entry
            if entry["id"] in wanted and entry["severity"] != "benign" and not _is_allowed(good, entry["id"], allowed):
                problems.append(_problem(good, match))
    return problems


def _problem(good: GoodText, match: Match) -> Problem:
    evidence = match.evidence[0].text if match.evidence else "no line"
    message = f"a good text is answered with {match.entry['id']} ({match.verdict}) by {evidence!r}; narrow its pattern"
    return Problem(good.path, good.line, 1, "", message)


def _is_allowed(good: GoodText, id: str, allowed: list[dict[str, str]]) -> bool:
    """Whether the list allows for this entry on this text, named by file:line or by an excerpt."""
    place = f"{good.path.name}:{good.line}"
    return any(row["entry"] == id and (row["text"] == place or row["text"] in good.text) for row in allowed)


def _read_allowed(path: Path) -> tuple[list[dict[str, str]], list[Problem]]:
    """The reviewed exceptions, and what is wrong with the file that lists them."""
    if not path.is_file():
        return [], []
    file, problems = read_yaml(path)
    rows = file.value if file and file.value else []
    if not isinstance(rows, list):
        return [], [Problem(path, 1, 1, "", "must be a YAML list")]
    good = [row for row in rows if _is_exception(row)]
    if file:
        wrong = (i for i, row in enumerate(rows) if not _is_exception(row))
        problems += [file.problem((i,), "needs text, entry and why, each a text") for i in wrong]
    return good, problems


def _is_exception(row: Any) -> bool:
    return isinstance(row, dict) and set(row) == _ALLOWED_KEYS and all(row[k] and isinstance(row[k], str) for k in row)
