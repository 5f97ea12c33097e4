"""The steps of checklists that people ticked, for each machine; kept beside the other state of the TUI."""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path

from npu_kb.tui.files import changing, read_regular, write_private
from npu_kb.tui.machines import free_name

Ticked = dict[str, dict[str, list[str]]]
"""{machine: {checklist: [English titles of steps]}}"""


class HandTicks:
    """The ticks in a file; without one, or where it cannot be written, they last as long as the program."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._is_kept = True
        """Whether the file holds all that was ticked here."""
        self._ticked, self._is_damaged = self._read()
        self.aside: Path | None = None
        """Where the last tick put a damaged file, in place of overwriting it."""

    def of(self, machine: str, checklist: str) -> list[str]:
        """The English titles of the steps that were ticked."""
        return self._ticked.get(machine, {}).get(checklist, [])

    def toggle(self, machine: str, checklist: str, step: str) -> bool:
        """Tick a step that `of` does not have, or take its tick back; False if that could not be kept."""
        was_ticked = step in self.of(machine, checklist)
        with changing(self._path) if self._path else nullcontext():
            if self._is_kept:
                self._ticked, self._is_damaged = self._read()  # other windows may have ticked since
            others = [title for title in self.of(machine, checklist) if title != step]
            after = others if was_ticked else [*others, step]
            self._ticked = {**self._ticked, machine: {**self._ticked.get(machine, {}), checklist: after}}
            self._is_kept = self._write()
        return self._is_kept

    def _write(self) -> bool:
        """Keep all ticks; a file that is damaged is put aside before."""
        self.aside = None
        if self._path and self._is_damaged:
            aside = free_name(self._path.parent, f"{self._path.stem}.damaged", self._path.suffix)
            try:
                self._path.rename(aside)
            except OSError:
                return False
            self.aside, self._is_damaged = aside, False
        return self._path is not None and write_private(self._path, json.dumps(self._ticked, ensure_ascii=False))

    def _read(self) -> tuple[Ticked, bool]:
        """What can be used of the file, and whether it holds anything else."""
        data = read_regular(self._path) if self._path else b""
        try:
            document = json.loads(data or b"{}")
        except (ValueError, RecursionError):
            return {}, True
        ticked = _usable(document)
        return ticked, ticked != document


def _usable(document: object) -> Ticked:
    machines = document.items() if isinstance(document, dict) else ()
    return {
        machine: {name: list(filter(_is_text, steps)) for name, steps in lists.items() if isinstance(steps, list)}
        for machine, lists in machines
        if isinstance(lists, dict)
    }


def _is_text(value: object) -> bool:
    return isinstance(value, str)
