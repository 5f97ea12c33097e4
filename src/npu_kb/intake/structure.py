"""What a log is made of: exception chains, failing operators, devices and ranks."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from npu_kb.intake.logtext import Line


class RaisedException(NamedTuple):
    """One exception of a traceback: its type, message, line (index), and whether another led to it."""

    type: str
    message: str
    line: int
    is_root: bool


_RAISED = (
    r"^(?:[A-Z]:\s*)?(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Timeout))"
    r"(?::\s*(?P<message>.*))?$"
)
_CHAINED = ("the above exception was the direct cause", "during handling of the above exception")
_OPERATORS = [
    r"\b(?P<op>aclnn[A-Z]\w+)",
    r"current working operator name is (?P<op>\w+)",
    r"(?i)\bop(?:_|\s)?(?:name|type)\s*[\[:=]\s*\[?(?P<op>[A-Za-z]\w{2,60})",
    r"kernel[_ ]name\s*[:=]\s*(?P<op>[A-Za-z]\w{2,80})",
    r"operator '(?P<op>aten::\w+)'",
    r"'(?P<op>(?:aten|npu)::[\w.]+)'",
]
_DEVICES = [
    r"\bdevice[_ ]?id[\s:=\[]+(?P<n>\d{1,4})\b",
    r"\bnpu:(?P<n>\d{1,3})\b",
    r"\bdeviceId[\s:=\[]+(?P<n>\d{1,4})\b",
]
_RANKS = [r"\brank(?:_?id)?[\s:=\[]+(?P<n>\d{1,5})\b", r"^rank(?P<n>\d{1,5})$"]
_MOST = 12


def read_exceptions(lines: list[Line]) -> list[RaisedException]:
    """The exceptions of all tracebacks, in the order of the log; the first of a chain is its root."""
    exceptions: list[RaisedException] = []
    chained = False
    for index, line in enumerate(lines):
        text = line.text.strip()
        if text.lower().startswith(_CHAINED):
            chained = True
        elif len(text) < 2_000 and (found := _regex(_RAISED).match(text)):
            exceptions.append(RaisedException(found["type"], (found["message"] or "")[:300], index, not chained))
            chained = False
    return exceptions


def read_names(lines: list[Line]) -> dict[str, list[str]]:
    """{"operators", "devices", "ranks"}: what the lines name, each once, in order."""
    whole = "\n".join(line.text[:2_000] for line in lines)
    ranks = [line.rank.removeprefix("rank") for line in lines if line.rank and line.rank.startswith("rank")]
    return {
        "operators": _all(_OPERATORS, "op", whole),
        "devices": _all(_DEVICES, "n", whole),
        "ranks": list(dict.fromkeys([*ranks, *_all(_RANKS, "n", whole)]))[:_MOST],
    }


def _all(patterns: list[str], group: str, text: str) -> list[str]:
    found = (match[group] for pattern in patterns for match in _regex(pattern).finditer(text))
    return list(dict.fromkeys(found))[:_MOST]


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)
