"""The files of a folder as they were at a git revision, and which of them changed since."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from npu_kb.errors import NpuKbError

How = Literal["added", "changed", "removed"]
_SECONDS = 120
_MAX_BLOB = 2_000_000
"""Bytes; a larger file is no knowledge."""


class Change(NamedTuple):
    """A file that differs from the revision, and how."""

    path: Path
    how: How


class Revision:
    """The last common ancestor of a revision and what is checked out, as far as a folder is concerned."""

    def __init__(self, folder: Path, base: str) -> None:
        """NpuKbError where git, the repository, the revision or the common ancestor is missing."""
        self._folder = folder.resolve()
        mend = "so nothing can be compared; name the kb folder of a checkout by --kb"
        self._git("rev-parse", "--show-toplevel", mend=f"{folder}: is in no git repository, {mend}")
        if self._is_ignored():
            raise NpuKbError(f"{folder}: is ignored by git, {mend}")
        name = self._git(
            "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}",
            mend=f"{base!r}: no such git revision; fetch it, or name another",
        )  # fmt: skip
        self.commit = self._git(
            "merge-base", name.strip(), "HEAD",
            mend=f"{base!r}: has no common ancestor with what is checked out; git fetch --unshallow",
        ).strip()  # fmt: skip

    def changes(self) -> list[Change]:
        """What differs from the revision in the folder, in the working tree and in files that git does not know yet."""
        listed = self._git(
            "diff", "--no-ext-diff", "--no-renames", "--name-status", "--relative", "-z", self.commit, "--", "."
        )
        fields = listed.split("\0")
        names: dict[str, How] = {"A": "added", "D": "removed"}
        found = [
            Change(self._folder / path, names.get(how, "changed"))
            for how, path in zip(fields[::2], fields[1::2], strict=False)
        ]
        new = self._git("ls-files", "--others", "--exclude-standard", "-z", "--", ".").split("\0")
        return sorted({*found, *(Change(self._folder / path, "added") for path in new if path)})

    def _is_ignored(self) -> bool:
        """Whether git is told to overlook the folder, such as one inside .venv."""
        try:
            self._git("check-ignore", "--quiet", ".")
        except NpuKbError:
            return False
        return True

    def export(self, target: Path) -> None:
        """Write the knowledge files of the folder as they were below `target`; links and odd paths are left out."""
        blobs = list(self._blobs())
        names = "".join(f"{name}\n" for name, _ in blobs).encode()
        contents = _contents(self._run("cat-file", "--batch", data=names))
        for (_, path), content in zip(blobs, contents, strict=True):
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            (target / path).write_bytes(content)

    def _blobs(self) -> Iterator[tuple[str, PurePosixPath]]:
        """(object name, path below the folder) of regular files that may hold knowledge."""
        for row in self._git("ls-tree", "-r", "-l", "-z", self.commit, "--", ".").split("\0"):
            facts, _, name = row.partition("\t")
            if not name:
                continue
            mode, _, object_name, size = facts.split()
            path = PurePosixPath(name)
            plain = not path.is_absolute() and ".." not in path.parts and path.suffix in (".yaml", ".log")
            if plain and mode.startswith("100") and int(size) <= _MAX_BLOB:
                yield object_name, path

    def _git(self, *arguments: str, mend: str = "") -> str:
        return self._run(*arguments, mend=mend).decode("utf-8", "surrogateescape")

    def _run(self, *arguments: str, data: bytes = b"", mend: str = "") -> bytes:
        command = ["git", "-C", str(self._folder), *arguments]
        environment = {**os.environ, "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(
                command, input=data, capture_output=True, timeout=_SECONDS, check=False, env=environment
            )
        except FileNotFoundError:
            raise NpuKbError(
                "git is not installed, so nothing can be compared; install it, or name the files"
            ) from None
        except subprocess.TimeoutExpired:
            raise NpuKbError(f"git {arguments[0]} takes more than {_SECONDS} s; try again, or name the files") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()
            raise NpuKbError(f"{mend}: {said}" if mend and said else mend or f"git {arguments[0]} failed: {said}")
        return done.stdout


def _contents(batch: bytes) -> Iterator[bytes]:
    """The contents in the output of `git cat-file --batch`: a header with the size, the content, a line end."""
    at = 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        size = int(batch[at:end].split()[2])
        yield batch[end + 1 : end + 1 + size]
        at = end + size + 2
