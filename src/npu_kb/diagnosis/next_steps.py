"""What to capture next where nothing certain was found."""

from __future__ import annotations

from typing import Any

from npu_kb.diagnosis.model import Match
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Knowledge

MAX_STEPS = 4


def next_steps(
    log: LogText, matches: list[Match], codes: list[dict[str, Any]], knowledge: Knowledge
) -> list[dict[str, Any]]:
    """Up to five commands, each with why; none where a cause was named or the log tells of no error."""
    if any(match.is_claim for match in matches):
        return []
    lowered = log.text[:200_000].lower()
    chosen: dict[str, dict[str, Any]] = {}
    steps = knowledge.next_steps()
    fitting = [s for s in steps if any(word in lowered for word in s.get("when", []))]
    always = [s for s in steps if s.get("always") and (fitting or codes)]
    for step in [*fitting[:MAX_STEPS], *always]:
        command = knowledge.command(step["command"]) if "command" in step else None
        run = command["run"] if command else step.get("run", "")
        chosen.setdefault(run, {"run": run, "why": step["why"]})
    return list(chosen.values())
