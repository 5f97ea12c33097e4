"""What varies in an error text from run to run, and the text with placeholders of TextPattern in its place."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from npu_kb.codes.mentions import find_codes

PLACEHOLDER = re.compile(r"<(?:\*|int|hex|word)>")

_ANY = r"<(?:\*|int|hex|word)>"
_ONE = r"<(?:int|hex|word)>"
_NUMBERED = (
    r"rank|device|dev|npu|card|chip|die|worker|core|stream|node|davinci|gpu|eth|bond|block|layers?|thread|group|tp|dp"
    r"|pp|ep|cp|numa|step|epoch|iter|server|process|part|bank|channel|port|slot|vchip|logic|phy"
)
"""Words behind which a number tells which one, and not what."""
_SOFTWARE_PATH = re.compile(r"/(?:usr|lib(?:64)?|etc|dev|proc|sys|bin|sbin|run)/|.*/(?:site|dist)-packages/|.*\.so\b")
_RUNNING = re.compile(r".*(?:_\d+|[0-9a-f]{8}|\d[0-9a-f]{5}).*")


def _list(found: re.Match[str]) -> str:
    return f"{found.group()[0]}<*>{found.group()[-1]}"


def _path(found: re.Match[str]) -> str:
    """How installed software calls its files stays; where they lie, and what users call theirs, varies."""
    name = found.group().rpartition("/")[2]
    own = _SOFTWARE_PATH.match(found.group()) and re.search(r"[A-Za-z]{3}", name)
    return f"<word>/{name}" if own else "<word>"


def _identifier(found: re.Match[str]) -> str:
    """A name stays unless it holds a running number or a hash."""
    name = found.group()
    return "<word>" if _RUNNING.fullmatch(name) and not name.isupper() else name


_MASKS: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"\.?\[(?:FUNC|FILE|LINE|THREAD):[^\]]*\]", "<*>"),
    (r"\[(?:PID|pid): ?\d+\]", "<*>"),
    (r"(?<![\w/])[\w./-]+\.(?:cc|cpp|cxx|c|h|hpp|py|go|rs|ts)\b(?::\d+)?", "<word>"),
    (r"(?:[\w.-]+\s*[=:]\s*[\"']?)?<(?:key|token|secret)>", "<*>"),
    (rf"(?!{_ONE})<[a-z][a-z0-9]{{1,9}}>(?::\d+)?", "<word>"),
    (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<word>"),
    (
        r"\d{4}[-/]\d\d[-/]\d\d[T _-]?\d\d:\d\d:\d\d[\d.,:]*(?:Z|[+-]\d\d:?\d\d)?|\b\d\d?:\d\d:\d\d(?:[.,]\d+)*",
        "<word>",
    ),
    (r"\b[a-z][a-z0-9+.-]{1,20}://[^\s'\"<>(){}\[\],;]+", "<word>"),
    (r"(?:(?<=[\s'\"`(\[=:,])|^)(?:/|~/|\.{1,2}/|<word>/)[^\s'\"`(){}\[\],;:|]+", _path),
    (r"[\[({]\s*-?\d[\d.]*(?:\s*,\s*-?\d[\d.]*)+\s*,?\s*[\])}]", _list),
    (r"(?<=[A-Za-z_])\.\d+(?=\.[A-Za-z_])", ".<int>"),
    (r"\b0x[0-9a-fA-F]+", "<hex>"),
    (r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,}\b", "<hex>"),
    (r"(?<![\w.<])[-+]?\d+(?:\.\d+)+(?:[a-z]\w*|e[-+]\d+)?(?!\w)", "<word>"),
    (rf"(?i)(?<![a-z])({_NUMBERED})([-_]?)\d+(?![\w.])", r"\1\2<int>"),
    (r"\b[A-Za-z]\w*\d\w*\b", _identifier),
    (r"(?<![\w.<])[-+]?\d+(?!\w)", "<int>"),
    (rf"{_ONE}(?:[.:/_-]?{_ONE})+", "<word>"),
    (rf"{_ANY}(?:[\s,;:/x*-]+{_ANY})+", "<*>"),
]
"""In this order: what a mask leaves, the next ones look at."""


def masked(text: str) -> str:
    """The text with <int>, <hex>, <word> or <*> for what varies; error codes stay."""
    parts: list[str] = []
    at = 0
    for mention in sorted(find_codes(text), key=lambda mention: mention.start):
        if mention.start >= at:
            parts += [_masked(text[at : mention.start]), text[mention.start : mention.end]]
            at = mention.end
    return "".join([*parts, _masked(text[at:])])


def _masked(text: str) -> str:
    for pattern, mark in _MASKS:
        text = _regex(pattern).sub(mark, text)
    return text


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
