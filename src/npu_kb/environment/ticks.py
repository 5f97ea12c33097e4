"""Which steps of a checklist the facts of a machine prove, and which they disprove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import isinf
from typing import NamedTuple

from npu_kb.diagnosis.match import holds
from npu_kb.environment.evidence import judged, known
from npu_kb.environment.judge import Judgement
from npu_kb.environment.snapshot import Snapshot
from npu_kb.environment.verdict import GOOD
from npu_kb.intake.facts import Fact
from npu_kb.knowledge.base import Document, Knowledge

DONE, WRONG, OPEN = "done", "wrong", "open"
Texts = dict[str, str]


class Tick(NamedTuple):
    """The state of a step, and what tells it: the facts that disprove it, or those that prove it."""

    state: str
    told: list[Texts]


def ticks(checklist: Document, snapshot: Snapshot, knowledge: Knowledge) -> list[Tick]:
    """A tick for each step. A step is done if every condition holds on every device and every pair goes together.

    One device or pair that speaks against it makes it wrong; what is not known of one leaves it open.
    """
    return all_ticks([checklist], snapshot, judged(snapshot, knowledge))[0]


def all_ticks(checklists: Iterable[Document], snapshot: Snapshot, judgements: list[Judgement]) -> list[list[Tick]]:
    """The ticks of several checklists, by what is `judged` of the snapshot."""
    facts: dict[str, list[Fact]] = {}
    for fact in known(snapshot).facts:
        facts.setdefault(fact.name, []).append(fact)
    return [
        [_tick([*_of_facts(step, facts, snapshot), *_of_pairs(step, judgements)]) for step in checklist["steps"]]
        for checklist in checklists
    ]


def _tick(parts: list[Tick]) -> Tick:
    """Wrong if a part is, done if all are, open otherwise and where there is nothing to tell it by."""
    wrong = [text for part in parts if part.state == WRONG for text in part.told]
    if wrong:
        return Tick(WRONG, wrong)
    told = [text for part in parts for text in part.told]
    return Tick(DONE if parts and all(part.state == DONE for part in parts) else OPEN, told)


def _of_facts(step: Document, facts: dict[str, list[Fact]], snapshot: Snapshot) -> Iterator[Tick]:
    for condition in step["disproof"]:
        mine = facts.get(condition["name"], [])
        if said := [_told(fact) for fact in mine if holds(condition, fact.value)]:
            yield Tick(WRONG, said)
    for condition in step["proof"]:
        mine = facts.get(condition["name"], [])
        against = [fact for fact in mine if not holds(condition, fact.value)]
        if against:
            yield Tick(WRONG, [_told(fact) for fact in against])
        elif not mine:
            yield Tick(OPEN, [])
        else:
            unseen = _devices(condition["name"], snapshot) - {_device(fact) for fact in mine}
            values = " ".join(dict.fromkeys(_shown(fact.value) for fact in mine))
            of = _of(", ".join(dict.fromkeys(fact.subject for fact in mine if fact.subject)))
            yield Tick(OPEN if unseen else DONE, [_same(f"{condition['name']} = {values}{of}")])


def _told(fact: Fact) -> Texts:
    return _same(f"{fact.name} = {_shown(fact.value)}{_of(fact.subject)}")


def _devices(name: str, snapshot: Snapshot) -> set[str]:
    """The NPUs of which a fact of this name must be known; ports of hccn_tool are counted by physical ids on A3."""
    if name.startswith("hccn.") and any(chip.family == "910_93" for chip in snapshot.chips):
        return {_shown(fact.value) for fact in snapshot.facts if fact.name == "npu.physical_id"}
    return {chip.npu for chip in snapshot.chips} if name.startswith(("npu.", "hccn.")) else set()


def _device(fact: Fact) -> str:
    """The NPU or port that a fact is of, whatever part of it: `3` of `3/1`."""
    return (fact.subject or "").partition("/")[0].partition(" ")[0]


def _of_pairs(step: Document, judgements: list[Judgement]) -> Iterator[Tick]:
    for pair in step["pairs"]:
        judgement = next((j for j in judgements if "/".join(j.pair) == pair), None)
        if judgement is None or judgement.state == "unknown":
            yield Tick(OPEN, [])
        else:
            yield Tick(DONE if judgement.state in GOOD else WRONG, [_versions(judgement)])


def _versions(judgement: Judgement) -> Texts:
    both = ", ".join(f"{name} {version}" for name, version in zip(judgement.pair, judgement.found, strict=True))
    return {lang: f"{both}: {text}" for lang, text in judgement.reason.items()}


def _same(text: str) -> Texts:
    return {"en": text, "zh": text}


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else "unlimited" if isinf(value) else f"{value:.10g}"


def _of(subject: str | None) -> str:
    return f" [{subject}]" if subject else ""
