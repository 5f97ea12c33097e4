"""Gate on silence: no entry claims a fault on logs of healthy machines and of other stacks (kb/goodlogs)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.errors import Problem
from npu_kb.gates.answers import Answer, Answers
from npu_kb.knowledge.yamlfile import Located, read_text, read_yaml

RULE = "silence_on_good_texts"
SEPARATOR = "%%"
ALLOWED = "allowed.yaml"
_ALLOWED_KEYS = {"text", "entry", "why"}


class GoodText(NamedTuple):
    """A text on which nothing may be claimed, and the line of its file on which it starts."""

    path: Path
    line: int
    text: str


class FalseClaim(NamedTuple):
    """What an entry claims on a good text."""

    good: GoodText
    claim: Answer

    @property
    def problem(self) -> Problem:
        """The claim as what has to be mended."""
        what = f"{self.claim.id} ({self.claim.verdict}) by {self.claim.evidence!r}"
        message = f"a good text is answered with {what}; narrow its pattern"
        return Problem(self.good.path, self.good.line, 1, "", message, rule=RULE)


class Silence(NamedTuple):
    """What good texts of one kb folder bring to light: claims that nobody has allowed for, and faults of the files."""

    claims: list[FalseClaim]
    faults: list[Problem]

    @property
    def problems(self) -> list[Problem]:
        """All of it."""
        return [*self.faults, *(claim.problem for claim in self.claims)]


def good_texts(kb_dir: Path) -> list[GoodText]:
    """All texts of kb_dir/goodlogs/*.log: what stands between `%%` lines, below a header of `#` lines."""
    return [text for path in _log_files(kb_dir) for text in _texts_of(path, read_text(path)[0])]


def _log_files(kb_dir: Path) -> list[Path]:
    return sorted((kb_dir / "goodlogs").glob("*.log"))


def _texts_of(path: Path, content: str) -> Iterator[GoodText]:
    lines = content.splitlines()
    start = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    ends = [i for i in range(start, len(lines)) if lines[i] == SEPARATOR]
    for end in [*ends, len(lines)]:
        if text := "\n".join(lines[start:end]):
            yield GoodText(path, start + 1, text + "\n")
        start = end + 1


def silence(kb_dir: Path, answers: Answers, ids: Iterable[str]) -> Silence:
    """What these entries claim on the good texts of a kb folder."""
    wanted = frozenset(ids)
    found = [
        FalseClaim(good, claim)
        for good in good_texts(kb_dir)
        for claim in answers.claims(good.text, wanted)
        if claim.severity != "benign"
    ]
    file, rows, faults = _read_allowed(kb_dir / "goodlogs" / ALLOWED)
    faults += [problem for path in _log_files(kb_dir) for problem in read_text(path)[1]]
    needed = {i for i, row in rows.items() for false in found if _allows(row, false)}
    idle = [i for i, row in rows.items() if row["entry"] in wanted and i not in needed]
    faults += [_not_needed(file.problem((i,), f"{rows[i]['entry']} is quiet there")) for i in idle if file]
    return Silence([f for f in found if not any(_allows(row, f) for row in rows.values())], faults)


def _not_needed(problem: Problem) -> Problem:
    message = f"is not needed any more: {problem.message}; remove it"
    return problem._replace(message=message, severity="warning", rule=RULE)


def _allows(row: dict[str, str], false: FalseClaim) -> bool:
    """Whether an exception is for this entry on this text, named by file:line or by an excerpt."""
    place = f"{false.good.path.name}:{false.good.line}"
    return row["entry"] == false.claim.id and (row["text"] == place or row["text"] in false.good.text)


def _read_allowed(path: Path) -> tuple[Located | None, dict[int, dict[str, str]], list[Problem]]:
    """The file of reviewed exceptions, the good ones by their place in it, and what is wrong with it."""
    if not path.is_file():
        return None, {}, []
    file, problems = read_yaml(path)
    rows = file.value if file and file.value else []
    if not isinstance(rows, list):
        return None, {}, [Problem(path, 1, 1, "", "must be a YAML list", rule=RULE)]
    good = {i: row for i, row in enumerate(rows) if _is_exception(row)}
    if file:
        wrong = (i for i in range(len(rows)) if i not in good)
        problems += [file.problem((i,), "needs text, entry and why, each a text") for i in wrong]
    return file, good, problems


def _is_exception(row: Any) -> bool:
    return isinstance(row, dict) and set(row) == _ALLOWED_KEYS and all(row[k] and isinstance(row[k], str) for k in row)
