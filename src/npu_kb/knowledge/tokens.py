"""From text to search terms, the same for what is indexed and what is asked.

| text | terms |
|---|---|
| `显存不足` | `显存`, `存不`, `不足` (and each character, of kind `char`: a unit of phrases that is not indexed) |
| `compiling`, `compiled` | `compil`, the stem |
| `time-out` | `=time_out`, `timeout`, `tim`, `out` |
| `HCCL_CONNECT_TIMEOUT` | `=hccl_connect_timeout`, `hccl`, `connect`, `timeout` |
| `aclnnInplaceCopy` | `=aclnninplacecopy`, `aclnn`, `inplac`, `copi` |
| `EZ9999`, `0x7020016` | `=ez9999`, `=0x7020016` |
| `not supported` | `not`, `support`, `not+support` |

A term that starts with `=` is a code or a name: it is found exactly or not at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

Kind = Literal["word", "code", "joined", "part", "number", "pair", "single", "char", "negated"]

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_RUN = re.compile(rf"[{_CJK}]+|[A-Za-z0-9_]+(?:['.\-][A-Za-z0-9_]+)*")
_PIECE = re.compile(r"0[xX][0-9a-fA-F]+|[A-Z]{2,}(?![a-z])\d*|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+(?:\.\d+)*")
_HEX = re.compile(r"0x0*([0-9a-f]+)")
_NUMBER = re.compile(r"\d+(?:\.\d+)*[%xs]?")
_SEPARATOR = re.compile(r"[_.\-']+")
_API_NAME = re.compile(r"[a-z]+[A-Z]\w*|[A-Z][a-z]+(?:[A-Z][a-z]+){2,}\w*")
_CONTRACTED_NOT = re.compile(r"(?:ca|does|do|is|are|did|was|were|has|have|wo|could|would|should)n'?t")
_NOT = frozenset({"not", "no", "without", "never", "cannot", "non"})
_SUFFIXES = (
    "izations", "ization", "izing", "ized", "izes", "ize", "ations", "ation", "ators", "ator", "ating", "ated",
    "ates", "ate", "ions", "ion", "ings", "ing", "ers", "er", "ed", "ly", "es", "e", "s",
)  # fmt: skip
_LEAST_STEM = {"ed": 3, "ing": 3, "s": 3, "es": 3, "e": 3}


class Term(NamedTuple):
    """One term and the span of the text that it stands for."""

    text: str
    start: int
    end: int
    kind: Kind


def terms(text: str) -> Iterator[Term]:
    """All terms of a text in order; spans are offsets into the text as given."""
    folded = fold(text)
    negated = False
    for run in _RUN.finditer(folded):
        if run[0][0] >= "\u3400":
            yield from _cjk_terms(run[0], run.start())
            negated = False
            continue
        word = run[0].lower()
        if is_negation(word):
            yield Term("not", run.start(), run.end(), "word")
            negated = True
            continue
        found = list(_latin_terms(run[0], run.start(), run.end()))
        yield from found
        if negated:
            yield from (Term(f"not+{t.text}", t.start, t.end, "negated") for t in found if t.kind == "word")
        negated = False


def fold(text: str) -> str:
    """Full-width and compatibility characters as plain ones, one for one, so that offsets stay."""
    return text if text.isascii() else "".join(map(_fold_character, text))


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A lower-case English word without its ending; British and American spellings meet."""
    word = word.replace("isation", "ization").replace("ising", "izing")
    if word.endswith(("ise", "ised", "ises")) and len(word) > 6:
        word = re.sub(r"is(e[ds]?)$", r"iz\1", word)
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "i"
    if word.endswith("ss") or not word.isalpha() or not word.isascii():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _LEAST_STEM.get(suffix, 4):
            return _last_letter(_single(word[: -len(suffix)]))
    return _last_letter(word)


def is_negation(word: str) -> bool:
    """Whether a lower-case English word turns the next one into its opposite."""
    return word in _NOT or _CONTRACTED_NOT.fullmatch(word) is not None


def _fold_character(character: str) -> str:
    folded = unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character


def _single(word: str) -> str:
    """`dropp` as `drop`."""
    doubled = len(word) > 3 and word[-1] == word[-2] and word[-1] not in "slz"
    return word[:-1] if doubled else word


def _last_letter(word: str) -> str:
    return word[:-1] + "i" if word.endswith("y") and len(word) > 3 else word


def _cjk_terms(run: str, start: int) -> Iterator[Term]:
    for i, character in enumerate(run):
        yield Term(character, start + i, start + i + 1, "char" if len(run) > 1 else "single")
        if i + 1 < len(run):
            yield Term(run[i : i + 2], start + i, start + i + 2, "pair")


def _latin_terms(run: str, start: int, end: int) -> Iterator[Term]:
    """A plain word as its stem; anything else whole, and its parts."""
    lower = run.lower()
    if lower.isalpha() and not _API_NAME.fullmatch(run):
        yield Term(stem(lower), start, end, "word")
        yield from _parts(run, start, end, {stem(lower)})
        return
    if _NUMBER.fullmatch(lower):
        yield Term(lower, start, end, "number")
        return
    yield Term("=" + _whole(lower), start, end, "code")
    joined = _SEPARATOR.sub("", lower)
    seen: set[str] = set()
    if joined.isalpha() and "-" in run:
        seen.add(stem(joined))
        yield Term(stem(joined), start, end, "joined")
    if not _HEX.fullmatch(lower):
        yield from _parts(run, start, end, seen)


def _parts(run: str, start: int, end: int, seen: set[str]) -> Iterator[Term]:
    for piece in _PIECE.findall(run.replace("_", " ").replace("'", " ")):
        lower = piece.lower()
        part = stem(lower) if lower.isalpha() else "=" + _whole(lower)
        telling = len(piece) > (1 if lower.isalpha() else 2) and not _NUMBER.fullmatch(lower)
        if telling and piece != run and part not in seen:
            seen.add(part)
            yield Term(part, start, end, "part")


def _whole(lower: str) -> str:
    """A code in one spelling: hex without leading zeros, `-` as `_`."""
    number = _HEX.fullmatch(lower)
    return f"0x{number[1]}" if number else lower.replace("-", "_")
