"""Order matches so that the root cause comes first."""

from __future__ import annotations

from npu_kb.diagnosis.model import VERDICTS, Match

_ROLES = {"root": 0, "follow-on": 1, "wrapper": 2}
_BASE = {"certain": 0.95, "likely": 0.82, "possible": 0.4}


def confidence(verdict: str, weight: int) -> float:
    """A number from 0 to 1: the verdict's base, raised a little by how much text was matched."""
    return round(_BASE[verdict] + 0.04 * min(weight, 100) / 100, 3)


def ranked(matches: list[Match]) -> list[Match]:
    """Claims before suggestions, faults before benign lines, causes before what they bring about."""
    return _causes_first(sorted(matches, key=_sort_key))


def _sort_key(match: Match) -> tuple[object, ...]:
    role = _ROLES[match.entry["role"]]
    return (
        not match.is_claim,
        match.entry["severity"] == "benign",
        role,
        VERDICTS.index(match.verdict),
        -_weight_class(match.weight),
        match.first_line,
        match.entry["id"],
    )


def _weight_class(weight: int) -> int:
    """Coarse, so that among texts of like length the earlier line decides."""
    return min(weight, 90) // 15


def _causes_first(matches: list[Match]) -> list[Match]:
    """Move a claim that another claim brings about behind it."""
    present = {match.entry["id"]: match for match in matches if match.is_claim}
    brought_about = {
        effect
        for match in present.values()
        for effect in match.entry["causes"]
        if effect in present and match.entry["id"] not in present[effect].entry["causes"]
    }
    roots = [m for m in matches if m.is_claim and m.entry["id"] not in brought_about]
    effects = [m for m in matches if m.is_claim and m.entry["id"] in brought_about]
    return [*roots, *effects, *(m for m in matches if not m.is_claim)]
