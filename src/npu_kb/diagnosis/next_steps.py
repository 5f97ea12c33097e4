"""What to capture next where nothing certain was found."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from npu_kb.diagnosis.model import Match
from npu_kb.intake.facts import Fact
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge

MAX_STEPS = 4
_PACKAGES = {"torch", "torch_npu", "torchvision", "vllm", "vllm_ascend", "mindspore", "triton_ascend", "transformers"}
"""Components that `pip list` tells."""
_LEAST_PACKAGES = 2
"""So many of them stand in a list of packages, or say as much as one; an error may name one in passing."""
_TABLE_FACT = "npu.hugepages_used"
"""A fact that only the table of `npu-smi info` tells."""


def next_steps(
    log: LogText, matches: list[Match], facts: Iterable[Fact], versions: dict[str, str], knowledge: Knowledge
) -> list[dict[str, Any]]:
    """Up to five commands, each with why; none where a cause was named, nor those whose output is there already."""
    if any(match.is_claim for match in matches) or not log.text.strip():
        return []
    lowered = log.text[:200_000].lower()
    chosen: dict[str, dict[str, Any]] = {}
    given = _given(facts, versions)
    steps = [s for s in knowledge.next_steps() if s.get("command") not in given]
    fitting = [s for s in steps if any(word in lowered for word in s.get("when", []))]
    general = [s for s in steps if s.get("otherwise")]
    always = [s for s in steps if s.get("always")]
    for step in [*(fitting or general)[:MAX_STEPS], *always]:
        command = knowledge.command(step["command"]) if "command" in step else None
        run = command["run"] if command else step.get("run", "")
        chosen.setdefault(run, {"run": run, "why": step["why"]})
    return list(chosen.values())


def _given(facts: Iterable[Fact], versions: dict[str, str]) -> set[str]:
    """The commands whose output was pasted."""
    given = set()
    if len(_PACKAGES & versions.keys()) >= _LEAST_PACKAGES:
        given.add("pip-list")
    if any(fact.name == _TABLE_FACT for fact in facts):
        given.add("npu-smi-info")
    return given
