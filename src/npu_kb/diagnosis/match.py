"""Does a match block hold in a log, and which lines say so?"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from math import inf
from typing import Any, NamedTuple

from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import LogText
from npu_kb.patterns import REGEX_CHARS, WINDOW_CHARS, TextPattern, leading_word, trailing_word

_MAX_PLACES = 40
"""Occurrences of one pattern that are looked at."""
_MAX_LINES = 6
"""Lines that one text pattern may span."""
_SHORT = 10
"""Characters; a shorter pattern without white space must stand in one word."""
_WORD = 6
"""ASCII letters; a pattern of so few is a word or part of a name, never a piece of another word (`npu` in `input`)."""
_FOREIGN_SECONDS = 1.0
"""Time in all that the regexes of entries from outside the built-in knowledge may take on one log."""
_WORD_END = re.compile(r".(?:$|[^A-Za-z]|s(?![A-Za-z]))|[a-z][A-Z]|[A-Z](?:[A-Z][a-z]|[A-Z]$)")
_HEX_END = re.compile(r"0x[0-9a-f]{2,16}\Z")
_DIGITS, _HEX_DIGITS = frozenset("0123456789"), frozenset("0123456789abcdefABCDEF")
_SPENT = "seconds_of_foreign_entries"
"""Name under which a log keeps how long they took."""
_GRAVITY = {"warning": 1, "alarm": 2, "critical": 3}
"""What a state of health weighs more than another."""
_CHIP = re.compile(r"(\d{1,3})(?:/(\d{1,2}))?")
_CODE_WEIGHT, _FACT_WEIGHT, _REGEX_WEIGHT = 10, 25, 20


class Scene(NamedTuple):
    """All that matching looks at: the log, its codes as {(family, key): line indexes}, and its facts by name."""

    log: LogText
    codes: dict[tuple[str, str], list[int]]
    facts: dict[str, list[Fact]]


class Finding(NamedTuple):
    """A condition or block that holds: line indexes, captured words, and how much it tells apart."""

    lines: list[int]
    captures: dict[str, str]
    weight: int


def evaluate(block: dict[str, Any], scene: Scene) -> Finding | None:
    """What speaks for the block, or None where a condition does not hold or a foreign block has no time left."""
    if not block.get("foreign"):
        return _evaluate(block, scene, inf)
    start, spent = time.perf_counter(), vars(scene.log).get(_SPENT, 0.0)
    deadline = start + _FOREIGN_SECONDS - spent
    finding = _evaluate(block, scene, deadline)
    end = time.perf_counter()
    vars(scene.log)[_SPENT] = spent + end - start
    return finding if end < deadline else None


def _evaluate(block: dict[str, Any], scene: Scene, deadline: float) -> Finding | None:
    log = scene.log
    if any(_find_text(pattern, log, deadline) for pattern in block["none"]):
        return None
    groups = [_find_text(pattern, log, deadline) for pattern in block["text"]]
    for literal, source in block["regex"]:
        groups.append(_find_regex(literal, source, log, deadline))
    for family, key in block["code"]:
        groups.append([Finding([line], {}, _CODE_WEIGHT) for line in scene.codes.get((family, key), [])])
    groups += [_find_fact(fact, scene) for fact in block["fact"]]
    if block["any"]:
        groups.append([found for pattern in block["any"] for found in _find_text(pattern, log, deadline)])
    if not all(groups):
        return None
    if tells_by_facts(block):
        return together(groups[0])
    return _combine(groups, block["within"], len(groups) - bool(block["any"]))


def tells_by_facts(block: dict[str, Any]) -> bool:
    """Whether one fact is all that a block wants; then each device of which it holds is evidence."""
    return len(block["fact"]) == 1 and not any(block[kind] for kind in ("text", "regex", "code", "any"))


def together(findings: list[Finding]) -> Finding:
    """The gravest finding, with the lines of the others behind its own."""
    graver = sorted(findings, key=lambda finding: -finding.weight)
    lines = dict.fromkeys(line for finding in graver for line in finding.lines)
    return graver[0]._replace(lines=list(lines))


def conditions(written: dict[str, Any], compiled: dict[str, Any], scene: Scene) -> Iterator[tuple[str, str, list[int]]]:
    """(kind, the condition as written, indexes of the lines where it is found) of each condition of a block."""
    deadline = time.perf_counter() + _FOREIGN_SECONDS if compiled.get("foreign") else inf
    for kind in ("text", "any", "none"):
        for source, pattern in zip(written[kind], compiled[kind], strict=True):
            yield kind, source, [finding.lines[0] for finding in _find_text(pattern, scene.log, deadline)]
    for literal, source in compiled["regex"]:
        found = _find_regex(literal, source, scene.log, deadline)
        yield "regex", source, [finding.lines[0] for finding in found]
    for family, key in compiled["code"]:
        yield "code", f"{family} {key}", scene.codes.get((family, key), [])
    for fact in compiled["fact"]:
        wanted = ", ".join(f"{name} {value}" for name, value in fact.items() if name != "name")
        yield "fact", f"{fact['name']} {wanted}", [finding.lines[0] for finding in _find_fact(fact, scene)]


def _combine(groups: list[list[Finding]], within: int | None, proofs: int) -> Finding | None:
    """The first findings of all groups, or the nearest ones to the first group's if they must stand close.

    Lines of the first `proofs` groups come before those of the others, which only say where the fault belongs.
    """
    for anchor in groups[0]:
        chosen = [anchor]
        for group in groups[1:]:
            nearest = min(group, key=lambda f: abs(f.lines[0] - anchor.lines[0])) if within is not None else group[0]
            chosen.append(nearest)
        proving, lines = _lines_of(chosen[:proofs]), _lines_of(chosen)
        if within is None or lines[-1] - lines[0] <= within:
            captures = {name: word for finding in reversed(chosen) for name, word in finding.captures.items()}
            ordered = [*proving, *(line for line in lines if line not in proving)]
            return Finding(ordered, captures, sum(finding.weight for finding in chosen))
    return None


def _lines_of(findings: list[Finding]) -> list[int]:
    return sorted({line for finding in findings for line in finding.lines})


def _find_text(fields: list[Any], log: LogText, deadline: float) -> list[Finding]:
    pattern = TextPattern(*fields)
    findings = []
    for start, end, captures in islice(_spans(pattern.literal, pattern.regex, log, deadline), _MAX_PLACES):
        first, last = log.line_at(start), log.line_at(end - 1)
        if last - first >= _MAX_LINES or not _whole_numbers(log, start, end):
            continue
        if pattern.solid and pattern.weight < _SHORT and _crosses_words(log, start, end):
            continue
        if pattern.weight <= _WORD and _is_letters(pattern) and not _is_word(log, start, end):
            continue
        if pattern.trailing is not None and (word := _word_after(log, end)):
            captures[pattern.trailing] = word
        if pattern.leading is not None and (word := _word_before(log, start)):
            captures[pattern.leading] = word
        findings.append(Finding(list(range(first, last + 1)), captures, pattern.weight))
    return findings


def _crosses_words(log: LogText, start: int, end: int) -> bool:
    """Whether a match spans white space inside a line."""
    (first, begin), (last, stop) = log.place(start), log.place(end - 1)
    return first == last and any(char.isspace() for char in log.lines[first].text[begin:stop])


def _is_letters(pattern: TextPattern) -> bool:
    """Whether it is one word of ASCII letters; Chinese words stand without anything between them."""
    return pattern.solid and pattern.literal.isascii() and pattern.literal.isalpha()


def _is_word(log: LogText, start: int, end: int) -> bool:
    """Whether letters stand for themselves: bounded by other characters, or by a change of case as in NPUWorker."""
    (first, begin), (last, stop) = log.place(start), log.place(end - 1)
    head, tail = log.lines[first].text[max(0, begin - 1) : begin + 1], log.lines[last].text[stop : stop + 3]
    begins = len(head) < 2 or not head[0].isalpha() or (head[0].islower() and head[1].isupper())
    return begins and _WORD_END.match(tail) is not None


def _spans(literal: str, regex: str | None, log: LogText, deadline: float) -> Any:
    """(start, end, captures) of each place of a pattern in the squeezed text, as far as there is time."""
    text, at, done = log.squeezed, -1, -1
    while (at := text.find(literal, at + 1)) >= 0 and _has_time(deadline):
        if regex is None:
            yield at, at + len(literal), {}
            continue
        if at < done:
            continue
        found = _compiled(regex).search(text, max(0, at - WINDOW_CHARS), at + len(literal) + WINDOW_CHARS)
        if found:
            done = found.end()
            yield found.start(), found.end(), _captured(found, log)


def _captured(found: re.Match[str], log: LogText) -> dict[str, str]:
    """The named groups as they stand in the log, in its own case."""
    words = {}
    for name in found.groupdict():
        start, end = found.span(name)
        if end > start:
            (first, begin), (last, stop) = log.place(start), log.place(end - 1)
            words[name] = log.lines[first].text[begin : stop + 1] if first == last else found.group(name)
    return words


def _whole_numbers(log: LogText, start: int, end: int) -> bool:
    """A number at an end of the match is a whole number there: 8020 not in 18020 or 80205, 0xa001 not in 0xa001f."""
    text = log.squeezed
    if text[start].isdigit():
        index, position = log.place(start)
        if position and log.lines[index].text[position - 1].isdigit():
            return False
    digits = _HEX_DIGITS if _HEX_END.search(text, start, end) else _DIGITS if text[end - 1].isdigit() else frozenset()
    if digits:
        index, position = log.place(end - 1)
        return log.lines[index].text[position + 1 : position + 2] not in digits
    return True


def _word_before(log: LogText, start: int) -> str | None:
    index, position = log.place(start)
    return leading_word(log.lines[index].text[:position])


def _word_after(log: LogText, end: int) -> str | None:
    index, position = log.place(end - 1)
    return trailing_word(log.lines[index].text[position + 1 :])


def _has_time(deadline: float) -> bool:
    return deadline == inf or time.perf_counter() < deadline


def _find_regex(literal: str | None, source: str, log: LogText, deadline: float) -> list[Finding]:
    regex = _compiled(source)
    places = ((i, 0) for i in range(len(log.lines))) if literal is None else _places_of(literal, log)
    findings: dict[int, Finding] = {}
    for index, column in places:
        if len(findings) >= _MAX_PLACES or not _has_time(deadline):
            break
        start = max(0, column - REGEX_CHARS // 2)
        if index in findings or not (found := regex.search(log.unwrapped(index), start, start + REGEX_CHARS)):
            continue
        if found.start() < len(log.lines[index].text):  # else it is of the next line, and found there
            captures = {name: word for name, word in found.groupdict().items() if word}
            findings[index] = Finding([index], captures, max(_REGEX_WEIGHT, len(literal or "")))
    return list(findings.values())


def _places_of(literal: str, log: LogText) -> list[tuple[int, int]]:
    """(line index, character index in that line) of the places of a literal, one for each piece that a regex sees."""
    places: dict[tuple[int, int], tuple[int, int]] = {}
    at, looked_at = -1, 0
    while (at := log.squeezed.find(literal, at + 1)) >= 0 and looked_at < 10 * _MAX_PLACES:
        looked_at += 1
        index, column = log.place(at)
        for origin in log.origins(index):
            column += len(log.lines[origin].text) if origin < index else 0
            places.setdefault((origin, column // (REGEX_CHARS // 4)), (origin, column))
    return list(places.values())


def _find_fact(condition: dict[str, Any], scene: Scene) -> list[Finding]:
    return [
        Finding([fact.line], _device(fact), _FACT_WEIGHT + _GRAVITY.get(str(fact.value).lower(), 0))
        for fact in scene.facts.get(condition["name"], [])
        if holds(condition, fact.value)
    ]


def _device(fact: Fact) -> dict[str, str]:
    """The device that a fact is of; of one that npu-smi tells, the numbers that its commands take as well."""
    if not fact.subject:
        return {}
    found = _CHIP.fullmatch(fact.subject) if fact.name.startswith("npu.") else None
    return {"device": fact.subject} | ({"npu": found[1], "chip": found[2] or "0"} if found else {})


def holds(condition: dict[str, Any], value: float | str) -> bool:
    """Whether a value is as a fact condition (above, below, equals or differs) wants it."""
    if "equals" in condition or "differs" in condition:
        wanted = condition.get("equals", condition.get("differs"))
        return (str(value).lower() == str(wanted).lower()) == ("equals" in condition)
    if isinstance(value, str):
        return False
    return bool(value > condition["above"] if "above" in condition else value < condition["below"])


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source, re.IGNORECASE)
