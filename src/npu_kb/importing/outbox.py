"""The folder of drafts: each written in one step, none twice, and a journal so that an import can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from npu_kb.errors import NpuKbError
from npu_kb.findings.write import place
from npu_kb.importing.drafts import Draft

JOURNAL = ".imported.jsonl"
"""A line for each draft: {"draft": its id, "digest": ..., "url": ... or ""}; a draft that was deleted stays known."""


class Outbox:
    """What was imported into a folder before, and the way into it; of a dry run nothing is written."""

    def __init__(self, folder: Path | None, dry: bool = False) -> None:
        self._folder = None if dry else folder
        self.digests: set[str] = set()
        self.urls: set[str] = set()
        for row in _read(folder / JOURNAL) if folder else ():
            self._remember(str(row.get("digest")), str(row.get("url") or ""))

    def add(self, draft: Draft, url: str) -> bool:
        """Write a draft, and then into the journal that it was written; False if its file is there already."""
        self._remember(draft.digest, url)
        if self._folder is None:
            return True
        path = self._folder / f"{draft.id}.yaml"
        is_new = not path.exists()  # else somebody may have worked on it
        if is_new:
            place(draft.text, path)
        _append(self._folder / JOURNAL, {"draft": draft.id, "digest": draft.digest, "url": url})
        return is_new

    def _remember(self, digest: str, url: str) -> None:
        self.digests.add(digest)
        if url:
            self.urls.add(url)


def _read(journal: Path) -> Iterator[dict[str, object]]:
    """The rows of a journal; a line that was cut when a program was killed is passed over."""
    try:
        lines = journal.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return
    except OSError as error:
        raise NpuKbError(f"{journal}: cannot be read: {error.strerror}; give another --out") from None
    for line in lines:
        with suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict):
                yield row


def _append(journal: Path, row: dict[str, str]) -> None:
    """Add a line in one write; where the last one was cut, begin a new one."""
    line = json.dumps(row) + "\n"
    try:
        with journal.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else "\n" + line
            file.write(line.encode())
    except OSError as error:
        mend = "make room or mend its permissions, and run it again"
        raise NpuKbError(f"{journal}: cannot be written: {error.strerror}; {mend}") from None
