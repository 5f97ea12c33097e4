"""Order matches so that the root cause comes first, and say what explains what."""

from __future__ import annotations

import re
from collections.abc import Mapping

from npu_kb.diagnosis.model import VERDICTS, Match, Reports
from npu_kb.intake.times import seconds_of

_WARNING = re.compile(r"\[W(?:ARN(?:ING)?)?[\] ]|(?:\S+ ){0,4}?(?:\[?WARN(?:ING)?\]?|\S+Warning)(?::| )")
"""The start of a line that glog, torch, plog, Python logging or the warnings module wrote as a warning."""
_ROLES = {"root": 0, "follow-on": 1, "wrapper": 2}
_BASE = {"certain": 0.95, "likely": 0.82, "possible": 0.4}
_SIGNATURE_MALUS = 0.04
_LAYERS_OF_THE_HOST = {"system", "container", "hardware"}


def confidence(verdict: str, weight: int, is_signature: bool = False) -> float:
    """A number from 0 to 1: the verdict's base, raised a little by how much text was matched.

    A one-line fault is less sure: an entry whose text is nearly there may be nearer.
    """
    return round(_BASE[verdict] + 0.04 * min(weight, 100) / 100 - _SIGNATURE_MALUS * is_signature, 3)


def weaker(verdict: str) -> str:
    """The verdict a step less sure."""
    return VERDICTS[min(VERDICTS.index(verdict) + 1, len(VERDICTS) - 1)]


def with_feedback(matches: list[Match], feedback: Mapping[str, Reports]) -> list[Match]:
    """The matches with the reports on their entries; one that users found wrong loses a verdict step."""
    return [_reported(m, feedback[m.entry["id"]]) if m.entry["id"] in feedback else m for m in matches]


def _reported(match: Match, reports: Reports) -> Match:
    if not reports.demote or match.verdict == VERDICTS[-1]:
        return match._replace(reports=reports)
    return _as(match._replace(reports=reports), weaker(match.verdict))


def ranked(matches: list[Match]) -> list[Match]:
    """Claims before suggestions, faults before benign lines, causes before what they bring about."""
    order = _order_of_events(matches)

    def place(match: Match) -> tuple[object, ...]:
        return *_standing(match), order[match.entry["id"]]

    ordered = sorted(matches, key=place)
    told = _told([match for match in ordered if match.is_claim])
    return _causes_first(sorted((m if m in told or not m.is_claim else _as(m, "possible") for m in ordered), key=place))


def _is_line(match: Match) -> bool:
    """Whether a one-line fault matches."""
    return "signature" in match.entry


def _told(claims: list[Match]) -> list[Match]:
    """The claims without one-line faults that speak of the same trouble as one before them."""
    told: list[Match] = []
    for match in claims:
        if not _is_line(match) or _stands_alone(match, list(filter(_is_line, told))):
            told.append(match)
    return told


def _stands_alone(line: Match, others: list[Match]) -> bool:
    """Whether a one-line fault is of another trouble: of a topic of its own if it is one of the host.

    Lines of a job's own software mostly tell how one fault went on.
    """
    if _is_of_host(line):
        return all(line.entry["topic"] != other.entry["topic"] for other in others)
    return all(map(_is_of_host, others))


def _is_of_host(match: Match) -> bool:
    return match.entry["layer"] in _LAYERS_OF_THE_HOST


def with_suggestions(matches: list[Match], near: list[Match]) -> list[Match]:
    """Matches without a claim, and what comes near: causes that match, then the rest, the surer first."""
    causes = [match for match in matches if not _is_line(match) and match.entry["role"] != "wrapper"]
    others = [*(match for match in matches if match not in causes), *near]
    return [*causes, *sorted(others, key=lambda match: (match.reports.demote, -match.confidence))]


def with_excuses(matches: list[Match]) -> list[Match]:
    """The matches; a fault becomes a suggestion if a benign match explains its lines as surely, with as much text.

    So does a one-line fault where an entry claims a fault, unless it is another one of the host; it is left out if its
    lines are that entry's own.
    """
    claims = [match for match in matches if match.is_claim]
    cases = [match for match in claims if not _is_line(match)]
    excuses = [match for match in claims if match.entry["severity"] == "benign"]
    told = {place for case in cases for place in _places(case)}
    faults = [case for case in cases if case.entry["severity"] != "benign"]

    def is_excused(match: Match) -> bool:
        stands_alone = not faults or (_is_of_host(match) and _stands_alone(match, faults))
        return (_is_line(match) and not stands_alone) or any(_excuses(benign, match) for benign in excuses)

    return [
        _as(match, "possible") if is_excused(match) else match
        for match in matches
        if not (_is_line(match) and _places(match) <= told)
    ]


def _places(match: Match) -> set[tuple[str, int]]:
    """Source and number of the lines that speak for a match."""
    return {(evidence.source, evidence.line) for evidence in match.evidence}


def _as(match: Match, verdict: str) -> Match:
    """The match with another verdict."""
    sureness = confidence(verdict, match.weight, _is_line(match))
    return match._replace(verdict=verdict, confidence=sureness)


def _excuses(benign: Match, match: Match) -> bool:
    surer = VERDICTS.index(benign.verdict) <= VERDICTS.index(match.verdict) and benign.weight >= match.weight
    if match.entry["severity"] == "benign" or not surer:
        return False
    return _places(match) <= _places(benign)


def _standing(match: Match) -> tuple[object, ...]:
    return (
        not match.is_claim,
        _is_warned_of(match),
        match.entry["severity"] == "benign",
        _is_line(match),
        _ROLES[match.entry["role"]],
        VERDICTS.index(match.verdict),
        -_weight_class(match.weight),
        min(match.reports.wrong - match.reports.right, 0),
    )


def _is_warned_of(match: Match) -> bool:
    """Whether only lines of level WARNING speak for it: the run went on after them."""
    return all(_WARNING.match(evidence.text) for evidence in match.evidence)


def _weight_class(weight: int) -> int:
    """Coarse, so that among texts of like length the earlier line decides."""
    return min(weight, 90) // 15


def _order_of_events(matches: list[Match]) -> dict[str, tuple[float, int, str]]:
    """When each match's evidence was written: by the lines' own times where all have one of a form, else by line.

    Lines of several ranks may stand in any order in a paste; their times do not.
    """
    times = {match.entry["id"]: seconds_of(match.evidence[0].text) for match in matches}
    comparable = len({time[0] for time in times.values() if time}) == 1 and all(times.values())
    return {
        id: (time[1] if comparable and time else 0.0, match.first_line, id)
        for match, (id, time) in zip(matches, times.items(), strict=True)
    }


def _causes_first(matches: list[Match]) -> list[Match]:
    """Move a claim that another claim brings about behind it."""
    explained = explanations(matches)
    roots = [match for match in matches if match.is_claim and match.entry["id"] not in explained]
    effects = [match for match in matches if match.is_claim and match.entry["id"] in explained]
    return [*roots, *effects, *(match for match in matches if not match.is_claim)]


def explanations(matches: list[Match]) -> dict[str, str]:
    """{claim: the claim that brings it about}, by the `causes` of entries; a mutual pair explains nothing."""
    claims = {match.entry["id"]: match for match in matches if match.is_claim}
    return {
        effect: id
        for id, match in reversed(claims.items())
        for effect in match.entry["causes"]
        if effect in claims and effect != id and id not in claims[effect].entry["causes"]
    }
