"""Markdown in which foreign text does nothing: it links nowhere, mentions nobody and is no HTML."""

from __future__ import annotations

import re

from npu_kb.intake.clean import printable

_PLACEHOLDER = re.compile(r"<(key|token|secret|user|mail|mac|ip6?|serial|path|host|pod|namespace|phone)>")
_LIVE = re.compile(r"[`*~\\$|]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)|\](?=[(\[:])|&(?=[#\w])|^(?:[#>+=-]|\d+(?=[.)]\s))")
_REFERENCE = re.compile(r"(?<=[@#])(?=\w)|(?<=://)(?=\S)|(?<=\bwww\.)(?=\w)|(?<=\bGH-)(?=\d)")
_SPAN = re.compile(r"((?<!`)`(?!`)[^`]+(?<!`)`(?!`))")
_ADDRESS = re.compile(r"^(- )<([^\s<>`]+)>$")
_FENCE = re.compile(r"\s*(`{3,})")


def inert(text: str) -> str:
    """The text for a heading, item or cell: no Markdown, no HTML, no links, nobody is mentioned."""
    plain = _PLACEHOLDER.sub(r"(\1)", " ".join(printable(text).split()))
    return _LIVE.sub(r"\\\g<0>", _REFERENCE.sub(" ", plain))


def code_span(command: str) -> str:
    """A command as a code span whose marks are longer than any run of backticks inside."""
    text = "; ".join(line.strip() for line in printable(command.strip()).splitlines() if line.strip())
    runs = [len(run) for run in re.findall("`+", text)]
    marks = "`" * (max(runs, default=0) + 1)
    return f"{marks} {text} {marks}" if runs else f"{marks}{text}{marks}"


def unlinked(markdown: str) -> str:
    """Markdown of ours with foreign texts in it: addresses, mentions and issue numbers outside of code lead nowhere."""
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        marks = _FENCE.match(line)
        if fence or marks:
            fence = "" if fence and line.strip() == fence else fence or (marks[1] if marks else "")
            lines.append(line)
        else:
            parts = _SPAN.split(_ADDRESS.sub(r"\1`\2`", line))
            lines.append("".join(part if part.startswith("`") else _REFERENCE.sub(" ", part) for part in parts))
    return "\n".join(lines)
