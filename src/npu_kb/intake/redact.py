"""Take out of a text what says whose it is: addresses, names, paths, tokens, mails, serial numbers."""

from __future__ import annotations

import re
from functools import cache

from npu_kb.intake.private_keys import without_keys
from npu_kb.intake.redaction_rules import KINDS, MACHINES, NAMES, NO_NAME, PEOPLE, SECRETS, Mark, is_host

_PASSES = 6
"""A placeholder may make its neighbour known; more passes than this were never needed."""


def redact(text: str, names: dict[str, str] | None = None) -> str:
    """The text with placeholders such as <ip>, <user>, <token> in place of what identifies people and machines.

    Lines keep their number. `names` are those known from elsewhere (names_in); those the text tells are added.
    """
    known = {**names_in(text), **(names or {})}
    for _ in range(_PASSES):
        before = text
        text = without_keys(text)
        for pattern, mark in _compiled():
            text = pattern.sub(mark, text)
        text = _without_names(text, known)
        if text == before:
            break
        known |= names_in(text)
    return text


def names_in(text: str) -> dict[str, str]:
    """{name: its placeholder} of the hosts and users a text tells by its prompts, settings and paths."""
    names: dict[str, str] = {}
    for mark, pattern in NAMES:
        for found in _pattern(pattern).finditer(text):
            name = found["name"].rstrip(".-")
            for form in (name, name.partition(".")[0]) if mark == "<host>" else (name,):
                if _tells(form, mark):
                    names.setdefault(form, mark)
    return names


def _tells(name: str, mark: str) -> bool:
    """Whether a name is distinct enough to be looked for in the whole text."""
    if len(name) < 4 or NO_NAME.match(name) or not is_host(name) or name in KINDS.split("|"):
        return False
    return mark == "<user>" or not re.search(r"[A-Z_]{2}", name)


def _without_names(text: str, marks: dict[str, str]) -> str:
    if not marks:
        return text
    longest_first = sorted(marks, key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w<-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w>-])")
    return pattern.sub(lambda found: marks[found.group()], text)


@cache
def _compiled() -> list[tuple[re.Pattern[str], Mark]]:
    return [(_pattern(pattern), mark) for pattern, mark in (*SECRETS, *PEOPLE, *MACHINES)]


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)
