"""Match blocks from what other systems match by: keywords and regular expressions."""

from __future__ import annotations

import re
import warnings
from contextlib import suppress
from typing import Any

from npu_kb.intake.clean import printable
from npu_kb.patterns import TextPattern, is_ambiguous, required_literal, squeeze

_LEAST_CHARS = 4
"""Fixed characters of a text worth asking for."""
_MOST_TEXTS, _MOST_GAPS = 8, 2
_MOST_REGEX = 500
_GAP = re.compile(r"\.[*+]\??")
_ESCAPED = re.compile(r"\\([^\w\s])")
_SPECIAL = re.compile(r"[\[\](){}|^$*+?]|\\.")


def text_block(keywords: list[str], lines: int) -> dict[str, Any] | None:
    """A block that asks for all keywords, within so many lines of each other; None if they are too short for one."""
    texts = [word for keyword in keywords if (word := _literal(keyword))][:_MOST_TEXTS]
    if not texts:
        return None
    near = {"within": lines} if len(texts) > 1 else {}
    return {"text": texts, **near, "proves": "possible"}


def regex_block(regex: str) -> dict[str, Any] | None:
    """A block for a regular expression: as texts where it is fixed words with gaps, else as a regex that ends."""
    parts = _GAP.split(regex)
    if not any(_SPECIAL.search(_ESCAPED.sub("", part)) for part in parts):
        words = [word for part in parts if (word := _ESCAPED.sub(r"\1", part).strip())]
        return text_block(["<*>".join(words)] if len(words) <= _MOST_GAPS + 1 else words, 0)
    with suppress(re.error, OverflowError, RecursionError, MemoryError, ValueError, Warning), warnings.catch_warnings():
        warnings.simplefilter("error")
        re.compile(regex)
        if len(regex) <= _MOST_REGEX and required_literal(regex) and not is_ambiguous(regex):
            return {"regex": [regex], "proves": "possible"}
    return None


def _literal(keyword: str) -> str:
    """The keyword as exact program text, or nothing if it is too short to tell anything."""
    plain = printable(" ".join(keyword.split()))
    with suppress(ValueError):
        if len(squeeze(plain)) >= _LEAST_CHARS and TextPattern.parse(plain):
            return plain
    return ""
