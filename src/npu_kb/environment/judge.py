"""Do these versions go together? Pair by pair, with the source, and the smallest change that makes the set right."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, NamedTuple

from npu_kb.diagnosis.applies import COMMANDS
from npu_kb.environment.mend import NOT_CHANGED, change_texts, smallest_change
from npu_kb.environment.names import NAMES, name_of
from npu_kb.environment.rules import PAIRS, Pair
from npu_kb.environment.tried import judge_tried
from npu_kb.environment.verdict import Machine, Matrix, State, Texts, Verdict
from npu_kb.knowledge.base import Knowledge

_MOST_CHARS = 60
"""Of what is given as a version."""


class Judgement(NamedTuple):
    """What is known of two components together; `found` are their versions, None where one is not known.

    The pair ("tried", name) stands for a combination of the ledger that is this one: a note, no judgement of a pair.
    `source` is empty where no source speaks of the two.
    """

    pair: tuple[str, str]
    found: tuple[str | None, str | None]
    state: State
    reason: Texts
    source: str
    mend: Texts | None

    @property
    def is_fault(self) -> bool:
        """Whether something should be changed: the two do not go together, or only with a drawback."""
        return self.state == "unsupported" or self.mend is not None


def judge(
    versions: dict[str, str], chips: list[str], compatibility: dict[str, dict[str, Any]], knowledge: Knowledge
) -> list[Judgement]:
    """Judge versions by component (`arch` among them where it is known), on chips by name or family.

    `compatibility` is what the machine's own files say, as snapshots hold it. The ledger of tried combinations comes
    first, then the pairs from the framework down to the firmware, then what is built on them.
    """
    matrix = Matrix(knowledge)
    families = frozenset(filter(None, (family_of(matrix, chip) for chip in {*chips})))
    arch = versions.get("arch")
    found = {name: version[:_MOST_CHARS] for name, version in versions.items() if name in NAMES and version}
    found.pop("chip", None)
    if len(families) == 1:
        found["chip"] = next(iter(families))
    machine = Machine(families, arch, found, compatibility)
    verdict = _judge(matrix, machine)
    mend = change_texts(matrix, smallest_change(matrix, machine, verdict), found)
    tried = [Judgement(("tried", name), (None, None), *said) for name, said in judge_tried(matrix, machine)]
    return tried + [_judgement(pair, machine, verdict, knowledge, mend) for pair in PAIRS if _concerns(pair, found)]


def family_of(matrix: Matrix, chip: str) -> str | None:
    """The family of a chip that is named by its family, its npu-smi name or its SoC."""
    rows = matrix.rows("chip")
    if any(row["family"] == chip for row in rows):
        return chip
    plain = re.sub(r"^Ascend ?", "", chip)
    named = (
        row for row in rows if plain in (row["npu_smi"], row["soc"].removeprefix("Ascend")) or chip == row["npu_smi"]
    )
    return next((row["family"] for row in named), None)


def _judge(matrix: Matrix, machine: Machine) -> Any:
    @lru_cache(None)
    def verdict(pair: Pair, left: str, right: str) -> Verdict:
        return pair.rule(matrix, machine, left, right)

    return verdict


def _concerns(pair: Pair, found: dict[str, str]) -> bool:
    """Whether both are there; of a core pair the one that asks for the other is enough."""
    return pair.left in found and (pair.right in found or pair.core)


def _judgement(pair: Pair, machine: Machine, verdict: Any, knowledge: Knowledge, mend: Texts | None) -> Judgement:
    names, versions = (pair.left, pair.right), (machine.found[pair.left], machine.found.get(pair.right))
    if versions[1] is None:
        return Judgement(names, versions, "unknown", *_missing(pair.right, knowledge), None)
    said = verdict(pair, *versions)
    wrong = said.state == "unsupported" and pair.right not in NOT_CHANGED
    return Judgement(names, versions, said.state, said.reason, said.source, mend if wrong else said.mend)


def _missing(component: str, knowledge: Knowledge) -> tuple[Texts, str]:
    """That a version is not known, and the command that tells it."""
    command = knowledge.command(COMMANDS.get(component, "pip-list"))
    run = command["run"] if command else "pip list"
    en, zh = name_of(component, "en"), name_of(component, "zh")
    gap = " " if zh.isascii() else ""
    texts = {"en": f"The version of {en} is not known; run: {run}", "zh": f"{zh}{gap}的版本未知，请运行：{run}"}
    return texts, "kb/commands.yaml"
