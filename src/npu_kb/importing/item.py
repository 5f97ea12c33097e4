"""One fault as an outside source tells it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from npu_kb.errors import Problem

Said = dict[str, str]
"""A text by the languages in which the source has it: {"en": ...}, {"zh": ...}, both, or nothing."""

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_STEP = re.compile(r"(?:^|\n|(?<=[\s。；;.]))[ \t]*(?:\d{1,2}[.、)）](?!\d)|[-*•] )\s*")
_TEXT_CHARS = 60_000


@dataclass(frozen=True)
class Item:
    """What a source says of one fault: its own words, not yet redacted, and where they stand."""

    path: Path
    line: int
    where: str
    """Place inside the file, as a field of a Problem: `[12]`, `Sheet1`."""
    title: Said
    error: str = ""
    """Exact program text."""
    symptom: Said = field(default_factory=dict)
    cause: Said = field(default_factory=dict)
    fix: tuple[Said, ...] = ()
    verify: Said = field(default_factory=dict)
    match: tuple[dict[str, Any], ...] = ()
    """Match blocks that the source itself gives; without any, they are drafted from `error`."""
    url: str = ""
    """Address of this very item, if it has one of its own."""
    source: str = ""
    """Otherwise where it is from: an address that others share, or words."""
    name: str = ""
    """What the source calls it; begins the draft's id."""
    author: str = ""
    given: dict[str, str] = field(default_factory=dict)
    """Layer, topic and severity, where the source names them."""
    notes: tuple[str, ...] = ()
    """What helps to complete the draft and has no field."""

    def problem(self, message: str) -> Problem:
        """What is wrong with this item."""
        return Problem(self.path, self.line, 1, self.where, message)


def shortened(text: str) -> str:
    """The beginning and the end of a text that is too long to be looked at whole."""
    half = _TEXT_CHARS // 2
    return text if len(text) <= _TEXT_CHARS else f"{text[:half]}\n...\n{text[-half:]}"


def said(text: str, lang: str = "") -> Said:
    """The text under its language: the one that is known, else Chinese if most of its words are."""
    if not text.strip():
        return {}
    return {lang or ("zh" if len(_CHINESE.findall(text)) > len(_WORD.findall(text)) else "en"): text}


def together(texts: Iterable[Said]) -> Said:
    """Several texts as one, each language for itself."""
    lines: dict[str, list[str]] = {}
    for text in texts:
        for lang, words in text.items():
            lines.setdefault(lang, []).append(words)
    return {lang: "\n".join(words) for lang, words in lines.items()}


def steps(text: str) -> list[str]:
    """The items of a numbered or dotted list; a text that is none is one step."""
    return [part.strip() for part in _STEP.split(text) if part.strip()]


def remedies(*texts: Said) -> tuple[Said, ...]:
    """Steps of texts in one or both languages; languages that count differently are kept whole, side by side."""
    whole = together(texts)
    split = {lang: steps(words) for lang, words in whole.items()}
    if len({len(parts) for parts in split.values()}) > 1:
        return (whole,)
    return tuple(dict(zip(split, parts, strict=True)) for parts in zip(*split.values(), strict=True))
