"""What pydantic finds wrong with a file, in the words of YAML: where, what, and the mend."""

from __future__ import annotations

import difflib
from typing import Any

from pydantic import ValidationError

from npu_kb.errors import Problem
from npu_kb.knowledge.entry import Entry
from npu_kb.knowledge.yamlfile import Located, Where

MAX_PROBLEMS = 100
"""Faults that are named of one file."""


def _in_yaml_words(file: Located, error: Any) -> tuple[Where, str]:
    """Where and what, in the words of the file and with the mend, for one pydantic error."""
    where: Where = tuple(p for p in error["loc"] if isinstance(p, int) or not p.startswith("function-"))
    kind, given = error["type"], error["input"]
    if kind == "missing":
        return where, "is missing; add it"
    if kind == "extra_forbidden":
        return where, f"is not a field{_nearest(str(where[-1]), where)}; remove or rename it"
    if kind == "string_type" and isinstance(given, (int, float)):
        return where, f"YAML reads this as {type(given).__name__} {given!r}; put it in quotes"
    if kind == "literal_error":
        return where, f"is {given!r}; allowed are {error['ctx']['expected']}"
    if kind == "string_too_short":
        return where, f"is {given!r}; write at least {error['ctx']['min_length']} characters"
    if kind == "string_pattern_mismatch":
        return where, f"is {given!r}, which does not fit {error['ctx']['pattern']}"
    return where, str(error["msg"]).removeprefix("Value error, ").replace("Input", "this")


def _nearest(name: str, where: Where) -> str:
    names = list(Entry.model_fields) if len(where) == 1 else []
    close = difflib.get_close_matches(name, names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def problems_of(error: ValidationError, file: Located, above: Where = ()) -> list[Problem]:
    """The problems of a value that stands at `above` in the file."""
    found = (_in_yaml_words(file, fault) for fault in error.errors()[:MAX_PROBLEMS])
    return [file.problem((*above, *where), message) for where, message in found]
