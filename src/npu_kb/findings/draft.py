"""A new entry in the making: what a log gives for it, what has been said so far, and what is missing."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field
from typing import Any

from npu_kb.errors import NpuKbError
from npu_kb.findings.clues import clues
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import names_in, redact
from npu_kb.intake.salient import redacted_lines, speaks_of_error
from npu_kb.intake.versions import read_versions

SAID = ("title", "cause", "fix", "symptom", "verify")
"""What an entry says in both languages."""
REQUIRED = (*(f"{name}.{lang}" for name in SAID for lang in ("en", "zh")), "layer", "topic", "id", "match")
"""Fields without which there is no entry."""
_EXCERPT_LINES, _LINE_CHARS = 30, 800
_WHOLE_CHARS = 400_000
"""Of a larger log only lines that speak of an error are looked at, the first and the last ones."""
_FIRST, _LAST = 3_000, 1_000
_CHINESE = re.compile(r"[\u3400-\u9fff]")


@dataclass
class Draft:
    """The redacted lines that a finding starts from, the versions they name, and the entry as far as it is known.

    A field of the entry is named by its path: `layer`, `cause.zh`, `fix.run` (of the first remedy).
    """

    excerpt: list[str]
    versions: dict[str, str]
    entry: dict[str, Any] = field(default_factory=dict)
    """As in its YAML file."""
    text: str = ""
    """The YAML as somebody edited it, which from then on is the entry."""
    names: dict[str, str] = field(default_factory=dict, repr=False)
    """Of people and hosts that the log names, with their placeholders; never kept."""

    @classmethod
    def of(cls, log: LogText) -> Draft:
        """What a log gives: at most thirty lines of it, redacted, in their order, and the versions."""
        names = names_in(log.text)
        return cls(_excerpt(log, names), read_versions([line.text for line in log.lines]), names=names)

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Draft:
        """The draft that `document` gave; NpuKbError if it is none."""
        try:
            return cls(**document)
        except TypeError:
            raise NpuKbError("this finding was kept by another npu-kb; drop it and record it anew") from None

    def document(self) -> dict[str, Any]:
        """As plain JSON values, for the store."""
        return {name: value for name, value in asdict(self).items() if name != "names"}

    def get(self, path: str) -> Any:
        """The value of a field, or None."""
        name, _, part = path.partition(".")
        value = self.entry.get(name)
        if name == "fix" and isinstance(value, list):
            value = value[0] if value else None
        return (value.get(part) if isinstance(value, dict) else None) if part else value

    def set(self, path: str, value: Any) -> None:
        """Fill a field; a text is redacted."""
        name, _, part = path.partition(".")
        if not part:
            self.entry[name] = value
            return
        plain = redact(" ".join(printable(value).split()), self.names) if isinstance(value, str) else value
        home = self.entry.setdefault("fix", [{}])[0] if name == "fix" else self.entry.setdefault(name, {})
        home[part] = plain

    def missing(self) -> list[str]:
        """The required fields that are not filled."""
        return [path for path in REQUIRED if not self.get(path)]


def language_of(text: str) -> str:
    """`zh` if the text holds any Chinese, else `en`."""
    return "zh" if _CHINESE.search(text) else "en"


def _excerpt(log: LogText, names: dict[str, str]) -> list[str]:
    """The lines that tell most, redacted."""
    lines, _ = redacted_lines(_looked_at(log), names)
    found = clues(lines)
    telling = [clue for clue in found if clue.worth > 0] or found
    best = sorted(telling, key=lambda clue: -clue.worth)[:_EXCERPT_LINES]
    return [lines[index].strip()[:_LINE_CHARS] for index in sorted(clue.line for clue in best)]


def _looked_at(log: LogText) -> LogText:
    if len(log.text) <= _WHOLE_CHARS:
        return log
    spoken = [line for line in log.lines if speaks_of_error(line.text)]
    return LogText(spoken if len(spoken) <= _FIRST + _LAST else spoken[:_FIRST] + spoken[-_LAST:])
