"""Suggestions where nothing certain was found: entries whose words come near, never claims."""

from __future__ import annotations

import re
from typing import Any

from npu_kb.diagnosis.match import Scene
from npu_kb.diagnosis.model import Evidence, Match
from npu_kb.intake.logtext import Line, LogText
from npu_kb.intake.salient import salient_lines
from npu_kb.intake.stack import is_foreign
from npu_kb.knowledge.base import Knowledge

MAX_SUGGESTIONS = 3
_VOLATILE = re.compile(r"0x[0-9a-f]+|[/\w.-]*/[\w./-]+|\d+(?:[.:]\d+)+|\b\d+\b", re.IGNORECASE)
_LINE_CHARS = 1_000
_QUERY_CHARS = 600
_FUZZY_LENGTH = 20
"""Characters; shorter texts are alike by chance."""
_LEAST_CONFIDENCE = 0.3
"""Below, one in sixteen suggestions was right on real logs of which nothing was claimed; above, one in four."""
_LEAST_COVERAGE, _LEAST_SCORE = 0.8, 40.0
"""Of an entry that speaks of nearly all that was written: a sentence typed in has too few words for a high score."""


def suggestions(scene: Scene, knowledge: Knowledge, known: set[str]) -> list[Match]:
    """Up to three entries that concern the log's codes or are near its words, as `possible` matches; none `known`."""
    of_codes = _entries_of_codes(scene, knowledge, known)
    near = _near_entries(scene.log, knowledge, known | {match.entry["id"] for match in of_codes})
    return [*of_codes, *near][:MAX_SUGGESTIONS]


def _entries_of_codes(scene: Scene, knowledge: Knowledge, known: set[str]) -> list[Match]:
    """The entries of a code that few entries share; a wrapper's code tells nothing."""
    matches = []
    for (family, key), lines in scene.codes.items():
        row = knowledge.lookup(family, key) or {}
        entries = [] if row.get("wrapper") else knowledge.entries_for_code(family, key)
        if len(entries) <= MAX_SUGGESTIONS:
            line = scene.log.lines[lines[0]]
            matches += [_suggestion(entry, line, 100, 0) for entry in entries if entry["id"] not in known]
    return matches


def _near_entries(log: LogText, knowledge: Knowledge, known: set[str]) -> list[Match]:
    salient = salient_lines(log)
    if not salient or is_foreign(log.text):
        return []
    from npu_kb.knowledge.fulltext import open_index

    query = " ".join(_VOLATILE.sub(" ", line.text[:_LINE_CHARS]) for line in salient)[:_QUERY_CHARS]
    matches = []
    for hit in open_index(knowledge).search(query, 8):
        entry = knowledge.entry(hit.id)
        if entry is None or hit.id in known:
            continue
        match = _suggestion(entry, *_nearest_line(entry, salient), hit.score)
        says_it_all = hit.coverage >= _LEAST_COVERAGE and hit.score >= _LEAST_SCORE
        if match.confidence >= _LEAST_CONFIDENCE or says_it_all:
            matches.append(match)
    return sorted(matches, key=lambda match: -match.confidence)


def _nearest_line(entry: dict[str, Any], lines: list[Line]) -> tuple[Line, float]:
    """The line nearest to one of the entry's blocks, and how near (0 to 100) that block is.

    A block that wants several texts is as near as they are on the average: one of them alone says little. What is there
    of short ones proves nothing, what is missing counts.
    """
    best = lines[0], 0.0
    for block in entry["match"]:
        found = [_nearest(text, lines) for text in block["text"]]
        found = found or [max((_nearest(text, lines) or (0.0, 0) for text in block["any"]), default=(0.0, 0))]
        long = [nearest for nearest in found if nearest is not None]
        if long and (ratio := sum(ratio for ratio, _ in long) / len(long)) > best[1]:
            best = lines[-max(long)[1]], ratio
    return best


def _nearest(text: str, lines: list[Line]) -> tuple[float, int] | None:
    """How near the nearest line comes to a text, and minus its place; None of a short text that is there."""
    from rapidfuzz import fuzz

    wanted = text.lower()
    compared = [line.text.lower()[:_LINE_CHARS] for line in lines]
    if len(text) < _FUZZY_LENGTH:
        return None if any(wanted in line for line in compared) else (0.0, 0)
    return max(
        (fuzz.partial_ratio(wanted, line) if len(text) <= len(line) else 0.0, -place)
        for place, line in enumerate(compared)
    )


def _suggestion(entry: dict[str, Any], line: Line, ratio: float, score: float) -> Match:
    """A possible match, as sure as its better half: an entry's text nearly there, or words that fit."""
    nearness = max(ratio / 100 * 0.44, min(score, 90) / 90 * 0.4)
    return Match(
        entry=entry,
        verdict="possible",
        confidence=round(nearness, 3),
        evidence=[Evidence.of(line)],
        captures={},
        first_line=0,
        weight=0,
        applies={"state": "any"},
    )
