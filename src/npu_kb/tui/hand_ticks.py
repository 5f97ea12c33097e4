"""The steps of checklists that people ticked, for each machine; kept beside the other state of the TUI."""

from __future__ import annotations

import json
from pathlib import Path

from npu_kb.tui.files import write_private

Ticked = dict[str, dict[str, list[str]]]
"""{machine: {checklist: [English titles of steps]}}"""


class HandTicks:
    """The ticks in a file; without one, or where it cannot be written, they last as long as the program."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._ticked = self._read()

    def of(self, machine: str, checklist: str) -> list[str]:
        """The English titles of the steps that were ticked."""
        return self._ticked.get(machine, {}).get(checklist, [])

    def toggle(self, machine: str, checklist: str, step: str) -> bool:
        """Tick a step, or take its tick back; False if that could not be kept."""
        before = self.of(machine, checklist)
        after = [title for title in before if title != step] if step in before else [*before, step]
        self._ticked = {**self._ticked, **self._read()}  # what another window has kept since
        self._ticked[machine] = {**self._ticked.get(machine, {}), checklist: after}
        return self._path is not None and write_private(self._path, json.dumps(self._ticked, ensure_ascii=False))

    def _read(self) -> Ticked:
        """What is kept; nothing where that is damaged."""
        try:
            document = json.loads(self._path.read_text("utf-8")) if self._path else {}
        except (OSError, ValueError, RecursionError):
            return {}
        machines = document.items() if isinstance(document, dict) else ()
        return {
            machine: {name: list(filter(_is_text, steps)) for name, steps in lists.items() if isinstance(steps, list)}
            for machine, lists in machines
            if isinstance(lists, dict)
        }


def _is_text(value: object) -> bool:
    return isinstance(value, str)
