"""What `npu-kb collect` does: choose, look, run, read, write."""

from __future__ import annotations

import difflib
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.collect.archive import Archive
from npu_kb.collect.logfiles import LogFile, find_logs, given_logs
from npu_kb.collect.plan import LeftOut, commands_of, commands_of_topics, plan
from npu_kb.collect.scene import Progress, Scene
from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.diagnosis.scan import LiteralInterest
from npu_kb.environment.probe import files_read, probe
from npu_kb.environment.root import Root
from npu_kb.environment.running import together
from npu_kb.errors import NpuKbError
from npu_kb.intake.redact import names_in
from npu_kb.intake.sources import read_logs
from npu_kb.knowledge.base import Knowledge

_LISTING_SECONDS = 15.0
_MOST_CAUSES = 3
"""Matches of the given log whose commands are run."""


class Request(NamedTuple):
    """What to keep: about a log, a topic or anything; logs changed in the last `since` seconds; MB at most."""

    out: Path
    log: str | None = None
    topic: str | None = None
    since: float | None = None
    root: str = "/"
    max_mb: int = 20


def keep(request: Request, knowledge: Knowledge, settings: Mapping[str, str], progress: Progress) -> dict[str, Any]:
    """Write the archive and return its manifest; NpuKbError where that cannot be done, and then there is none.

    Only commands of the built-in knowledge are run, whatever `knowledge` holds.
    """
    topics, wanted = _subject(request, knowledge)
    builtin, root = Knowledge.load([]), Root(request.root)
    with Archive(request.out) as archive:
        scene = Scene(archive, request.max_mb * 1_000_000, _own_names(settings), progress)
        progress(0, 1, "npu-kb env")
        snapshot = probe(builtin, root, settings, patience=scene.patience)
        scene.add_snapshot(snapshot)
        scene.add_files(root, files_read(root, settings))
        scene.run(plan(builtin.commands(), wanted, snapshot), root)
        scene.add_logs([*_given(request.log), *_recent(request, root, settings, scene)])
        return scene.finish({"topics": topics, "chips": [chip.model_dump() for chip in snapshot.chips]})


def _subject(request: Request, knowledge: Knowledge) -> tuple[list[str], list[str]]:
    """The topics that it is about, and the commands that these, or the causes of the log, ask for."""
    if request.topic:
        names = [*knowledge.topics()]
        if request.topic not in names:
            near = difflib.get_close_matches(request.topic, names, 1, 0.4)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(names)}"
            raise NpuKbError(f"--topic {request.topic}: no such topic; {hint}")
        return [request.topic], commands_of_topics(knowledge, [request.topic])
    if not request.log:
        return [], []
    log = read_logs([request.log], LiteralInterest(knowledge))
    causes = [match.entry for match in diagnose(log, knowledge).matches[:_MOST_CAUSES]]
    topics = list(dict.fromkeys(entry["topic"] for entry in causes))
    own = [id for entry in causes for id in commands_of(entry)]
    return topics, [*own, *commands_of_topics(knowledge, topics)]


def _given(log: str | None) -> list[LogFile]:
    if log is None:
        return []
    try:
        return given_logs(log)
    except OSError as error:
        raise NpuKbError(f"{log}: cannot be read: {error.strerror}; give a readable file") from None


def _recent(request: Request, root: Root, settings: Mapping[str, str], scene: Scene) -> list[LogFile]:
    """The logs of the stack that are new enough, unless listing them takes too long."""
    tasks = {"logs": lambda: find_logs(root, settings)}
    found = together(tasks, time.monotonic() + _LISTING_SECONDS)
    if "logs" not in found:
        scene.left_out.append(LeftOut("the logs of CANN", "their folders did not answer in time"))
    logs = found.get("logs", [])
    oldest = time.time() - request.since if request.since else 0.0
    new = [log for log in logs if log.changed >= oldest]
    if old := len(logs) - len(new):
        scene.left_out.append(LeftOut(f"{old} log files", "changed before --since"))
    return new


def _own_names(settings: Mapping[str, str]) -> dict[str, str]:
    """This machine and its user, to be taken out wherever they stand."""
    users = {settings.get("USER", ""), settings.get("LOGNAME", ""), Path(settings.get("HOME", "")).name}
    texts = [f"username: {user}" for user in users if user]
    with suppress(OSError):
        texts.append(f"hostname: {socket.gethostname()}")
    return names_in("\n".join(sorted(texts)))
