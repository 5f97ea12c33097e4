"""The main job: a log and the knowledge in, a Diagnosis out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import Any

from npu_kb.codes.codescan import CodeMention
from npu_kb.codes.mentions import find_codes
from npu_kb.diagnosis.match import Finding, Scene, evaluate, tells_by_facts, together
from npu_kb.diagnosis.model import VERDICTS, Diagnosis, Evidence, Match, Reports
from npu_kb.diagnosis.rank import (
    confidence,
    ranked,
    weaker,
    with_excuses,
    with_feedback,
    with_suggestions,
)
from npu_kb.diagnosis.scan import Literals
from npu_kb.intake.facts import Fact, Known, read_facts
from npu_kb.intake.logtext import LogText
from npu_kb.intake.stack import Stack
from npu_kb.intake.versions import read_versions
from npu_kb.knowledge.base import Knowledge

MAX_MATCHES = 10


def diagnose(
    log: str | bytes | LogText,
    knowledge: Knowledge,
    suggest: bool = True,
    feedback: Mapping[str, Reports] | None = None,
    known: Known | None = None,
) -> Diagnosis:
    """Name the causes that a log shows, ranked; without a claim and with `suggest`, add what comes near.

    `feedback` holds what users reported of entries, by id: it moves their matches, and stands in them. `known` is what
    is known beside the log: its facts are evidence like the log's, its versions count where the log names none.
    """
    reports = feedback or {}
    text = log if isinstance(log, LogText) else LogText.of(log)
    scene = scene_of(text, knowledge, known)
    versions = {**(known.versions if known else {}), **read_versions([line.text for line in text.lines])}
    matches = ranked(with_excuses(with_feedback(find_matches(scene, knowledge, versions), reports)))
    if suggest and not any(match.is_claim for match in matches):
        from npu_kb.diagnosis.suggest import suggestions

        near = suggestions(
            scene_of(text, knowledge) if known else scene, knowledge, {match.entry["id"] for match in matches}
        )
        matches = with_suggestions(matches, with_feedback(near, reports))
    from npu_kb.diagnosis.next_steps import next_steps

    codes = decoded(scene, knowledge)
    facts = [fact for group in scene.facts.values() for fact in group]
    steps = next_steps(text, matches, facts, versions, knowledge)
    return Diagnosis(matches[:MAX_MATCHES], codes, facts, versions, steps, scene.log)


def scene_of(log: LogText, knowledge: Knowledge, known: Known | None = None) -> Scene:
    """What matching looks at: the log with its codes and facts, and behind it what is known otherwise."""
    facts = read_facts(log.lines)
    if known:
        facts += [fact._replace(line=fact.line + len(log.lines)) for fact in known.facts]
        log = LogText([*log.lines, *known.lines])
    return Scene(log, _code_lines(find_codes(log.text, knowledge), log), _by_name(facts))


def find_matches(scene: Scene, knowledge: Knowledge, versions: dict[str, str]) -> list[Match]:
    """One match for each entry of which a block holds, by its strongest block."""
    return matches_of(_candidate_blocks(scene, knowledge), scene, knowledge, versions, Stack(scene.log.text))


def matches_of(
    blocks: Iterable[dict[str, Any]], scene: Scene, knowledge: Knowledge, versions: dict[str, str], stack: Stack
) -> list[Match]:
    """One match for each entry of which one of these blocks holds, by its strongest one; no claim in a foreign log.

    A general entry claims only in a log that names Ascend.
    """
    found: dict[int, list[tuple[Finding, dict[str, Any]]]] = {}
    for block in blocks:
        if finding := evaluate(block, scene):
            found.setdefault(block["entry"], []).append((finding, block))
    return [
        _match(knowledge.entry_number(number), *_strongest(of_entry), scene.log, versions, stack)
        for number, of_entry in found.items()
    ]


@lru_cache(maxsize=4)
def _literals_of(knowledge: Knowledge) -> Literals:
    return Literals(knowledge)


def _candidate_blocks(scene: Scene, knowledge: Knowledge) -> list[dict[str, Any]]:
    found = _literals_of(knowledge).found_in(scene.log.squeezed)
    return [
        *knowledge.blocks("text", (str(number) for number in found)),
        *knowledge.blocks("code", (f"{family}:{key}" for family, key in scene.codes)),
        *knowledge.blocks("fact", scene.facts),
    ]


def _strongest(of_entry: list[tuple[Finding, dict[str, Any]]]) -> tuple[Finding, dict[str, Any]]:
    """The strongest block with what was found; if that is a fact, with the facts of the blocks that prove as much."""
    finding, block = min(of_entry, key=lambda found: (VERDICTS.index(found[1]["proves"]), -found[0].weight))
    if not tells_by_facts(block):
        return finding, block
    alike = [other for other, b in of_entry if tells_by_facts(b) and b["proves"] == block["proves"]]
    return together(alike), block


def _match(
    entry: dict[str, Any],
    finding: Finding,
    block: dict[str, Any],
    log: LogText,
    versions: dict[str, str],
    stack: Stack,
) -> Match:
    verdict = block["proves"]
    applies: dict[str, Any] = {"state": "any"}
    if any(entry["versions"].values()):
        from npu_kb.diagnosis.applies import applicability

        applies = applicability(entry["versions"], versions)
    if applies["state"] == "not-affected":
        verdict = weaker(verdict)
    if entry["role"] == "wrapper" or stack.is_foreign or (entry.get("general") and not stack.is_ascend):
        verdict = "possible"
    return Match(
        entry=entry,
        verdict=verdict,
        confidence=confidence(verdict, finding.weight, "signature" in entry),
        evidence=[Evidence.of(log.lines[index]) for index in finding.lines[:6]],
        captures=finding.captures,
        first_line=min(finding.lines),
        weight=finding.weight,
        applies=applies,
    )


def _code_lines(mentions: list[CodeMention], log: LogText) -> dict[tuple[str, str], list[int]]:
    """Indexes of the lines that mention each code."""
    ends = list(accumulate(len(line.text) + 1 for line in log.lines))
    lines: dict[tuple[str, str], list[int]] = {}
    for mention in mentions:
        lines.setdefault((mention.family, mention.key), []).append(bisect_right(ends, mention.start))
    return lines


def _by_name(facts: list[Fact]) -> dict[str, list[Fact]]:
    grouped: dict[str, list[Fact]] = {}
    for fact in facts:
        grouped.setdefault(fact.name, []).append(fact)
    return grouped


def decoded(scene: Scene, knowledge: Knowledge) -> list[dict[str, Any]]:
    """Each code of the log once, with what its catalogue says and the line where it stands first."""
    rows = []
    for (family, key), lines in scene.codes.items():
        if row := knowledge.lookup(family, key):
            line = scene.log.lines[lines[0]]
            rows.append({**row, "line": line.number, "source": line.source})
    return rows
