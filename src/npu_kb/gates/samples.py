"""Gates on samples: each hit is answered with its entry first, each near-miss is not answered with it."""

from __future__ import annotations

from collections.abc import Iterator

from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.errors import Problem
from npu_kb.gates.gate import Context, gate
from npu_kb.knowledge.load import LoadedEntry


@gate
def hits_come_first(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """The entry's own samples give it first; by a claim, unless none of its blocks makes one."""
    makes_claims = any(block.proves != "possible" for block in item.entry.match)
    prints_nothing = not any(b.text or b.any or b.regex or b.code for b in item.entry.match)
    for i, sample in enumerate(item.entry.samples.hit):
        matches = diagnose(sample, context.knowledge, suggest=prints_nothing).matches
        ids = [match.entry["id"] for match in matches]
        if prints_nothing and item.entry.id in ids[:3]:
            continue
        if not ids or ids[0] != item.entry.id:
            first = f"{ids[0]} ({matches[0].verdict})" if ids else "nothing"
            yield item.file.problem(("samples", "hit", i), f"is answered with {first} first; sharpen one of the two")
        elif makes_claims and not matches[0].is_claim and item.entry.role != "wrapper":
            yield item.file.problem(("samples", "hit", i), "is answered as a suggestion only; use a stronger block")


@gate
def misses_stay_silent(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """A near-miss does not match the entry."""
    for i, sample in enumerate(item.entry.samples.miss):
        matches = diagnose(sample, context.knowledge, suggest=False).matches
        if any(match.entry["id"] == item.entry.id for match in matches):
            yield item.file.problem(("samples", "miss", i), "matches this entry; narrow its pattern")
