"""Gates on samples: each hit is answered with its entry first, each near-miss is not answered with it."""

from __future__ import annotations

from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.answers import Answers
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.intake.logtext import LogText
from npu_kb.intake.stack import speaks_of_ascend
from npu_kb.knowledge.base import Document
from npu_kb.knowledge.entryfile import LoadedEntry

PREFIXES = {
    "a time stamp": "2026-11-29 03:12:45,678 ",
    "a rank": "[rank3]: ",
    "a vLLM engine's prefix": "(EngineCore_DP0 pid=1042) ERROR 11-29 03:12:45 [core.py:700] ",
}
"""What launchers and loggers put before each line; the answer must not depend on it."""
_NEAR_ENOUGH = 3
"""Place at which a fault that prints nothing must be found by its description."""


@gate()
def hits_come_first(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """The entry's own samples give it first; by a claim, unless none of its blocks makes one."""
    for i, sample in enumerate(item.entry.samples.hit):
        if fault := fault_of_hit(context.entries[item.entry.id], sample, context.answers):
            yield item.file.problem(("samples", "hit", i), fault)


@gate()
def hits_survive_prefixes(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """What launchers and loggers put before a line does not change the first answer."""
    for i, sample in enumerate(item.entry.samples.hit):
        if fault := fault_under_prefixes(context.entries[item.entry.id], sample, context.answers):
            yield item.file.problem(("samples", "hit", i), fault)


@gate()
def misses_stay_silent(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """A near-miss does not match the entry."""
    for i, sample in enumerate(item.entry.samples.miss):
        if matches_miss(context.entries[item.entry.id], sample, context.answers):
            yield item.file.problem(("samples", "miss", i), "matches this entry; narrow its pattern")


@gate()
def no_claim_on_others(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No hit sample of an entry that is not linked to this one is claimed by it."""
    for other, n, claim in context.claims_on_others.get(item.entry.id, []):
        message = f"claims ({claim.verdict}) hit sample {n} of {other} too, by {claim.evidence[:80]!r}"
        yield item.file.problem(("match",), f"{message}; narrow it, or name {other} under `related` or `causes`")


def fault_of_hit(entry: Document, sample: str, answers: Answers) -> str:
    """What is wrong with the answer to a hit sample, empty if nothing is."""
    wordless = prints_nothing(entry)
    found = answers.to(sample, suggest=wordless)
    if wordless and entry["id"] in [answer.id for answer in found[:_NEAR_ENOUGH]]:
        return ""
    if not found or found[0].id != entry["id"]:
        first = f"{found[0].id} ({found[0].verdict})" if found else "nothing"
        return f"is answered with {first} first; sharpen one of the two"
    if _makes_claims(entry) and not found[0].is_claim and not (entry["general"] and not speaks_of_ascend(sample)):
        return "is answered as a suggestion only; use a stronger block"
    return ""


def fault_under_prefixes(entry: Document, sample: str, answers: Answers) -> str:
    """Which prefix changes the answer to a hit sample, empty if none does; tables and descriptions have none."""
    if prints_nothing(entry) or any(block["fact"] for block in entry["match"]):
        return ""
    if fault_of_hit(entry, sample, answers):
        return ""
    plain = _plain_lines(sample)
    for name, prefix in PREFIXES.items():
        text = "\n".join(prefix + line for line in sample.split("\n"))
        if _plain_lines(text) == plain:
            continue
        found = answers.to(text)
        if not found or found[0].id != entry["id"]:
            first = found[0].id if found else "nothing"
            return f"is answered with {first} first under {name}; keep `^` and line ends out of the pattern"
    return ""


def matches_miss(entry: Document, sample: str, answers: Answers) -> bool:
    """Whether the entry answers to its own near-miss."""
    return entry["id"] in [answer.id for answer in answers.to(sample)]


def prints_nothing(entry: Document) -> bool:
    """Whether a fault shows no text of its own, so that it is found by its description."""
    return not any(block[kind] for block in entry["match"] for kind in ("text", "any", "regex", "code"))


def _makes_claims(entry: Document) -> bool:
    claims = any(block["proves"] != "possible" for block in entry["match"])
    return claims and entry["status"] != "draft" and entry["role"] != "wrapper"


def _plain_lines(text: str) -> list[str]:
    return [line.text for line in LogText.of(text).lines]
