"""What a screen needs to read machines and write files in threads, so that it stays alive whatever hangs."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from textual import work
from textual.worker import get_current_worker

from npu_kb.errors import NpuKbError
from npu_kb.files import write_file
from npu_kb.intake.clean import printable
from npu_kb.tui.machines import Machine, kept_snapshots
from npu_kb.tui.screens.base import PlaceScreen, app_of
from npu_kb.tui.session import Stopped

_WORK = ("this", "file")
"""The groups of workers that read this machine, and a file."""


class MachinesScreen(PlaceScreen):
    """Subclasses show the machines, and the list of snapshots, as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.machines: dict[str, Machine] = {}
        """Those that were read, by file; this one has none."""
        self.failures: dict[str, str] = {}
        """Why the others could not be read."""
        self.snapshots: list[str] = []
        """The files that are offered."""
        self._given: list[str] = []
        """Files and folders that the user opened."""
        self._reading: set[str] = set()

    def machines_changed(self) -> None:
        """Show what has come, or failed to."""
        raise NotImplementedError

    def snapshots_changed(self) -> None:
        """Show the list of snapshots."""
        raise NotImplementedError

    def is_reading(self, path: str) -> bool:
        """Whether a machine is being read."""
        return path in self._reading

    def need(self, path: str) -> None:
        """Read a machine unless it is known already."""
        if path not in self.machines and path not in self._reading:
            self.read_machine(path)

    def read_machine(self, path: str, anew: bool = False) -> None:
        """Read a machine in a thread; of files the one that was asked for last."""
        self.failures.pop(path, None)
        self._reading = {other for other in self._reading if bool(other) != bool(path)} | {path}
        group = "file" if path else "this"
        self.run_worker(partial(self._read, path, anew), thread=True, exclusive=True, group=group)

    def _read(self, path: str, anew: bool) -> None:
        worker, app = get_current_worker(), app_of(self)
        try:
            if path:
                machine = Machine.in_file(path, app.knowledge)
            else:
                snapshot = app.this_machine.read(lambda: worker.is_cancelled, anew)
                machine = Machine.of("", snapshot, app.knowledge)
        except Stopped:
            return
        except NpuKbError as error:
            self._from_thread(self._not_read, path, error)
        else:
            self._from_thread(self._use, machine)

    def _from_thread(self, call: Callable[..., Any], *arguments: object) -> None:
        if not get_current_worker().is_cancelled:
            self.app.call_from_thread(call, *arguments)

    def _use(self, machine: Machine) -> None:
        self._reading.discard(machine.path)
        self.machines[machine.path] = machine
        self.machines_changed()

    def _not_read(self, path: str, error: NpuKbError) -> None:
        self._reading.discard(path)
        self.machines.pop(path, None)
        self.failures[path] = printable(" ".join(str(error).split()))
        self.machines_changed()

    def stop_reading(self) -> bool:
        """Stop what is being read; whether there was anything."""
        was_reading = bool(self._reading)
        for group in _WORK:
            self.workers.cancel_group(self, group)
        self._reading.clear()
        if was_reading:
            self.machines_changed()
        return was_reading

    def knowledge_changed(self) -> None:
        """Judge anew by the knowledge that was read again; this machine is not read a second time."""
        self.machines.clear()
        self.machines_changed()

    def open(self, path: str) -> None:
        """Offer a file, or the snapshots of a folder."""
        self._given = [*(given for given in self._given if given != path), path]
        self.look()

    @work(thread=True, exclusive=True, group="look")
    def look(self) -> None:
        """List the kept snapshots: those saved from here, those of the working folder, and what was opened."""
        own = app_of(self).state_path("snapshots")
        folders = [path for path in self._given if os.path.isdir(path)]  # noqa: PTH112
        files = [path for path in self._given if path not in folders]
        kept = kept_snapshots([*([str(own)] if own else []), ".", *folders])
        real = {os.path.realpath(path) for path in files}
        self._from_thread(self._offer, [*files, *(path for path in kept if os.path.realpath(path) not in real)])

    def _offer(self, paths: list[str]) -> None:
        self.snapshots = paths
        self.snapshots_changed()

    @work(thread=True, group="write")
    def write(self, path: str, text: Callable[[], str]) -> None:
        """Write a text into a new file, and say so; of folders only our own is made."""
        file, own = Path(path), app_of(self).state_path("snapshots")
        try:
            if file.parent != own and not file.parent.is_dir():
                raise NpuKbError(f"{file}: there is no folder {file.parent}; make it, or give another name")
            write_file(file, text(), new=True)
        except NpuKbError as error:
            self.app.call_from_thread(app_of(self).tell_error, error)
        else:
            saved = self.say("saved", path=printable(path))
            self.app.call_from_thread(partial(self.notify, saved, timeout=8, markup=False))
            self.look()
