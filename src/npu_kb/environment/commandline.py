"""A line of kb/commands.yaml without a shell: the words of one program, and the filters behind it, done in Python."""

from __future__ import annotations

import glob
import re
import shutil
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import NamedTuple

Filter = Callable[[list[bytes]], list[bytes]]
"""Lines to the lines that are kept."""

_TOKEN = re.compile(
    r"\s*(?:(?P<pipe>\|)(?!\|)"
    r"|(?P<word>(?:[^\s'\"|;&<>()$`\\#]|'[^']*'|\"(?:[^\"$`\\]|\\[^\"$`\\])*\")+))"
)
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_SHELL_ONLY = ("ulimit", "while", "for", "export", "source", "bash", "sh")
_OTHERWISE = {"python": "python3", "pip": "pip3"}
_MOST_FILES = 500
"""That one word with * stands for."""
_FIRST_LINES = 10
"""Of head and tail, where no number is given."""


class CommandLine(NamedTuple):
    """What to run, and what to do with what it prints."""

    arguments: list[str]
    filters: list[Filter]

    @property
    def runnable(self) -> list[str]:
        """The words with python3 in place of a python that is not there."""
        program, *rest = self.arguments
        other = _OTHERWISE.get(program)
        return [other if other and not shutil.which(program) else program, *rest]

    def filtered(self, data: bytes) -> bytes:
        """The lines that pass all filters."""
        lines = data.splitlines(keepends=True)
        for keep in self.filters:
            lines = keep(lines)
        return b"".join(lines)


def parse(line: str) -> CommandLine | None:
    """The program and its filters (grep, head, tail); None where only a shell could run it."""
    stages: list[list[str]] = [[]]
    at = 0
    while found := _TOKEN.match(line, at):
        at = found.end()
        if found["pipe"]:
            stages.append([])
        else:
            stages[-1] += _expanded(found["word"])
    program, *others = stages
    filters = [_filter(words) for words in others]
    if line[at:].strip() or not program or program[0] in _SHELL_ONLY or None in filters:
        return None
    return CommandLine(program, [keep for keep in filters if keep])


def _expanded(word: str) -> list[str]:
    """The word without quotes, ~ as the home, * as the files that are there; a quoted word stands for itself."""
    if "'" in word or '"' in word:
        return [_QUOTED.sub(lambda quoted: quoted[1] or quoted[2] or "", word)]
    path = str(Path(word).expanduser()) if word.startswith("~/") else word
    files = sorted(islice(glob.iglob(path), _MOST_FILES)) if "*" in path else []  # noqa: PTH207
    return files or [path]


def _filter(words: list[str]) -> Filter | None:
    """The filter of one stage of a pipe; None if it is not one of those that are done here."""
    name, *rest = words or [""]
    if name == "grep":
        return _grep(rest)
    if name in ("head", "tail") and (found := re.fullmatch(r"(?:-n ?|-)?(\d*)", " ".join(rest))):
        count = int(found[1] or _FIRST_LINES)
        return (lambda lines: lines[:count]) if name == "head" else (lambda lines: lines[-count:])
    return None


def _grep(words: list[str]) -> Filter | None:
    options = "".join(word[1:] for word in words if word.startswith("-"))
    patterns = [word for word in words if not word.startswith("-")]
    if len(patterns) != 1 or not set(options) <= set("iEv"):
        return None
    try:
        pattern = re.compile(patterns[0].encode(), re.IGNORECASE if "i" in options else 0)
    except re.error:
        return None
    return lambda lines: [line for line in lines if bool(pattern.search(line)) != ("v" in options)]
