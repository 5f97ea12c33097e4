"""Text patterns and the squeezed form of text in which they are found.

Squeezed text has no white space and no capital letters, so a pattern is found whatever terminal wrapped the line,
however it was indented, and in whatever case it was typed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_PLACEHOLDER = re.compile(r"<(\*|int|hex|word)(?::([a-z_]+))?>")
_BODY = {
    "*": ".{0,300}?",
    "int": r"[+-]?\d+",
    "hex": r"(?:0x)?[0-9a-f]+",
    "word": r"[^\s,;'\"`()\[\]{}|]{1,200}?",
}
_LEADING = re.compile(r"([^\s,;'\"`()\[\]{}|]+)[\s'\"`)\]:=]*$")
_TRAILING = re.compile(r"[\s'\"`(\[:=]*([^\s,;'\"`()\[\]{}|]+)")


def squeeze(text: str) -> str:
    """The text without white space, ASCII letters in lower case; as long as the text less its white space."""
    packed = "".join(text.split())
    lowered = packed.lower()
    return lowered if len(lowered) == len(packed) else "".join(_lower_one(c) for c in packed)


def _lower_one(char: str) -> str:
    lowered = char.lower()
    return lowered if len(lowered) == 1 else char


class TextPattern(NamedTuple):
    """A compiled pattern: the literal that must be present, and the regex (or None) that confirms it around there."""

    literal: str
    """The longest fixed part, squeezed."""
    regex: str | None
    """Regex over squeezed text; None where the literal is the whole pattern."""
    trailing: str | None
    """Name under which the word after the match is captured, if the pattern ends in a named placeholder."""
    leading: str | None
    """The same for the word before it."""
    weight: int
    """Number of fixed characters."""
    solid: bool
    """One word, so that a short one is not looked for across words (`tbe` in `could not be`)."""

    @classmethod
    def parse(cls, source: str) -> TextPattern:
        """Parse a pattern such as `undefined symbol: <word:symbol>`; ValueError without 2 fixed characters."""
        pieces = _PLACEHOLDER.split(source)
        fixed = [squeeze(part) for part in pieces[0::3]]
        kinds, names = pieces[1::3], pieces[2::3]
        literal = max(fixed, key=len)
        if len(literal) < 2:
            raise ValueError("needs a fixed part of at least 2 characters")
        trailing = leading = None
        if kinds and not fixed[-1]:
            trailing, kinds, names, fixed = names[-1], kinds[:-1], names[:-1], fixed[:-1]
        if kinds and not fixed[0]:
            leading, kinds, names, fixed = names[0], kinds[1:], names[1:], fixed[1:]
        solid = source.replace("_", "").isalnum()
        return cls(literal, _regex_of(fixed, kinds, names), trailing, leading, sum(map(len, fixed)), solid)


def _regex_of(fixed: list[str], kinds: list[str], names: list[str]) -> str | None:
    if not kinds:
        return None
    regex = re.escape(fixed[0])
    for kind, name, part in zip(kinds, names, fixed[1:], strict=True):
        regex += f"(?P<{name}>{_BODY[kind]})" if name else _BODY[kind]
        regex += re.escape(part)
    return regex


def trailing_word(text: str) -> str | None:
    """The first word of the text that follows a match, without quotes and brackets."""
    found = _TRAILING.match(text)
    return found.group(1).rstrip(".:") if found else None


def leading_word(text: str) -> str | None:
    """The last word of the text that comes before a match, without quotes and brackets."""
    found = _LEADING.search(text[-400:])
    return found.group(1) if found else None


def required_literal(regex: str) -> str | None:
    """The longest text that every match of the regex must contain, squeezed; None if there is none of 4 characters."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as parser
    best, run = "", ""
    for op, value in [*parser.parse(regex), (None, None)]:
        if str(op) == "LITERAL":
            run += chr(value)
            continue
        best, run = max(best, squeeze(run), key=len), ""
        if str(op) == "SUBPATTERN" and value[3] is not None:
            best = max(best, _literal_of_group(value[3]), key=len)
    return best if len(best) >= 4 else None


def _literal_of_group(items: list[tuple[object, int]]) -> str:
    """The fixed text of a group that consists of literals only, else nothing."""
    items = list(items)
    if all(str(op) == "LITERAL" for op, _ in items):
        return squeeze("".join(chr(value) for _, value in items))
    return ""
