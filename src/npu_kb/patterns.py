"""Text patterns and the squeezed form of text in which they are found.

Squeezed text has no white space and no capital letters, so a pattern is found whatever terminal wrapped the line,
however it was indented, and in whatever case it was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

SLOT = re.compile(r"\{([a-z_]+)\}")
"""Where a text shows a captured word."""
REGEX_CHARS = 1_000
"""Characters of a line that regexes see: around their literal, or the first ones."""
WINDOW_CHARS = 2_000
"""Squeezed characters before and after a literal in which its pattern is tried."""
_CAPTURE = re.compile(r"<(?:\*|int|hex|word):([a-z_]+)>|\(\?P<([a-z_]+)>")
_PLACEHOLDER = re.compile(r"<(\*|int|hex|word)(?::([a-z_]+))?>")
_BODY = {
    "*": ".{0,300}?",
    "int": r"[+-]?\d+",
    "hex": r"(?:0x)?[0-9a-f]+",
    "word": r"[^\s,;'\"`()\[\]{}|]{1,200}?",
}
_EXAMPLES = {"*": "", "int": "3", "hex": "0x1f", "word": "value"}
_MAX_SOURCE = 1_000
"""Characters of one pattern as it is written."""
_MAX_GAPS, _MAX_PLACEHOLDERS = 2, 6
"""How many `<*>`, and how many placeholders of any kind, one pattern may hold: each multiplies its cost."""
_FEW, _MAX_CHOICES = 4, 12
"""Times that a repeat around another may go round; repeats and sets of alternatives in one regex."""
_LEADING = re.compile(r"([^\s,;'\"`()\[\]{}|]+)[\s'\"`)\]:=]*$")
_TRAILING = re.compile(r"[\s'\"`(\[:=]*([^\s,;'\"`()\[\]{}|]+)")


GRAM = 8
"""Characters of the pieces by which a long literal is looked up."""


def grams(squeezed: str) -> set[str]:
    """All pieces of GRAM characters of a squeezed text."""
    return {squeezed[i : i + GRAM] for i in range(len(squeezed) - GRAM + 1)}


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
        """Parse a pattern such as `undefined symbol: <word:symbol>`; ValueError that names what is wrong with it."""
        pieces = _PLACEHOLDER.split(source)
        fixed = [squeeze(part) for part in pieces[0::3]]
        kinds, names = pieces[1::3], pieces[2::3]
        if fault := _fault(source, kinds, [name for name in names if name]):
            raise ValueError(fault)
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


def _fault(source: str, kinds: list[str], names: list[str]) -> str:
    """What makes a pattern too costly or ambiguous, with the mend; empty if nothing does."""
    if len(source) > _MAX_SOURCE:
        return f"is longer than {_MAX_SOURCE} characters; keep what tells this cause apart"
    if twice := next((name for name in names if names.count(name) > 1), None):
        return f"names two placeholders {twice!r}; give each its own name"
    if kinds.count("*") > _MAX_GAPS:
        return f"holds more than {_MAX_GAPS} <*>; write it as several texts"
    if len(kinds) > _MAX_PLACEHOLDERS:
        return f"holds more than {_MAX_PLACEHOLDERS} placeholders; write it as several texts"
    return ""


def _regex_of(fixed: list[str], kinds: list[str], names: list[str]) -> str | None:
    if not kinds:
        return None
    regex = re.escape(fixed[0])
    for kind, name, part in zip(kinds, names, fixed[1:], strict=True):
        regex += f"(?P<{name}>{_BODY[kind]})" if name else _BODY[kind]
        regex += re.escape(part)
    return regex


def captured_names(sources: Iterable[str]) -> set[str]:
    """The names under which patterns and regexes, as they are written, capture words."""
    return {name for source in sources for pair in _CAPTURE.findall(source) for name in pair if name}


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
    best = squeeze(required_run(regex))
    return best if len(best) >= 4 else None


def required_run(regex: str) -> str:
    """The longest text that every match of the regex must contain, as it is written there; empty if there is none."""
    best, run = "", ""
    for op, value in [*_tree(regex), (None, None)]:
        if str(op) == "LITERAL":
            run += chr(value)
            continue
        best, run = max(best, run, key=_squeezed_length), ""
        if str(op) == "SUBPATTERN" and value[3] is not None:
            best = max(best, _literal_of_group(value[3]), key=_squeezed_length)
    return best


def _squeezed_length(text: str) -> int:
    return len(squeeze(text))


def _literal_of_group(items: list[tuple[object, int]]) -> str:
    """The fixed text of a group that consists of literals only, else nothing."""
    items = list(items)
    if all(str(op) == "LITERAL" for op, _ in items):
        return "".join(chr(value) for _, value in items)
    return ""


def fixed_parts(source: str) -> list[str]:
    """The parts of a text pattern, as it is written, between its placeholders."""
    return _PLACEHOLDER.split(source)[0::3]


def example(source: str) -> str:
    """A text that the pattern matches."""
    return _PLACEHOLDER.sub(lambda found: _EXAMPLES[found.group(1)], source)


def _tree(regex: str) -> list[tuple[Any, Any]]:
    """The parsed regex: pairs of an operation and its value, as `re` has them."""
    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # Python 3.10
        import sre_parse as parser
    return list(parser.parse(regex))


def is_ambiguous(regex: str) -> bool:
    """Whether a text can be split among the regex's repeats and alternatives in a great many ways."""
    items = _tree(regex)
    return _nests(items, 1) or _choices(items) > _MAX_CHOICES


def _nests(items: Iterable[tuple[Any, Any]], times: int) -> bool:
    """Whether a repeat, or alternatives that can begin alike, stand inside a repeat (of so many `times`)."""
    for op, value in items:
        kind = str(op)
        if kind.endswith("_REPEAT"):
            low, high, body = int(value[0]), int(value[1]), value[2]
            if (times > 1 and low != high and max(times, high - low) > _FEW) or _nests(body, times * max(1, high)):
                return True
        elif kind == "BRANCH":
            if (times > _FEW and _begin_alike(value[1])) or any(_nests(branch, times) for branch in value[1]):
                return True
        elif any(_nests(part, times) for part in _parts(kind, value)):
            return True
    return False


def _choices(items: Iterable[tuple[Any, Any]]) -> int:
    """How many repeats of no fixed number and sets of alternatives there are."""
    count = 0
    for op, value in items:
        kind = str(op)
        if kind.endswith("_REPEAT"):
            count += (value[0] != value[1]) + _choices(value[2])
        elif kind == "BRANCH":
            count += 1 + max(map(_choices, value[1]))
        else:
            count += sum(map(_choices, _parts(kind, value)))
    return count


def _parts(kind: str, value: Any) -> list[Any]:
    """The items inside a group, an assertion or a condition."""
    if kind == "SUBPATTERN":
        return [value[3]]
    if kind in ("ASSERT", "ASSERT_NOT"):
        return [value[1]]
    if kind == "ATOMIC_GROUP":
        return [value]
    return [part for part in value[1:] if part is not None] if kind == "GROUPREF_EXISTS" else []


def _begin_alike(branches: list[Any]) -> bool:
    """Whether two alternatives can begin with the same character; only different letters are told apart."""
    starts = [branch[0] if len(branch) else ("", 0) for branch in branches]
    firsts = [chr(value).lower() if str(op) == "LITERAL" else "" for op, value in starts]
    return "" in firsts or len(set(firsts)) < len(firsts)


def hostile_texts(regex: str, length: int) -> Iterator[str]:
    """Texts of this length on which a regex that backtracks takes its time: each of its repeats drawn out, no end."""
    items = _tree(regex)
    whole = _sample(items)
    for pumped in {whole, whole[:-1], *_pumps(items)}:
        yield (whole + pumped * (length // max(1, len(pumped)) + 1))[:length] + "\n"
        yield (pumped * (length // max(1, len(pumped)) + 1))[:length] + "\n"


def _pumps(items: Iterable[tuple[Any, Any]]) -> Iterator[str]:
    """A sample of the body of each repeat, and of all that stands between the first one and its end."""
    for op, value in items:
        kind = str(op)
        if kind.endswith("_REPEAT"):
            yield _sample(value[2])
            yield from _pumps(value[2])
        for part in value[1] if kind == "BRANCH" else _parts(kind, value):
            yield from _pumps(part)


def _sample(items: Iterable[tuple[Any, Any]]) -> str:
    """A text that the items may match, roughly: the first of every choice, each repeat once."""
    return "".join(_sample_of(str(op), value) for op, value in items)


def _sample_of(kind: str, value: Any) -> str:
    if kind == "LITERAL":
        return chr(value)
    if kind == "IN":
        return _sample_of(*_plain(value[0]))
    if kind == "RANGE":
        return chr(value[0])
    if kind == "CATEGORY":
        return {"CATEGORY_DIGIT": "0", "CATEGORY_SPACE": " "}.get(str(value), "a")
    if kind.endswith("_REPEAT"):
        return (_sample(value[2]) * min(max(1, int(value[0])), 20))[:200]
    if kind == "BRANCH":
        return _sample(value[1][0])
    if kind in ("SUBPATTERN", "ATOMIC_GROUP"):
        return "".join(_sample(part) for part in _parts(kind, value))
    return "a" if kind in ("ANY", "NOT_LITERAL") else ""


def _plain(choice: tuple[Any, Any]) -> tuple[str, Any]:
    """One member of a set; of a negated set, any letter."""
    return ("ANY", None) if str(choice[0]) == "NEGATE" else (str(choice[0]), choice[1])
