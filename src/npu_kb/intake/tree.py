"""Which files are read where folders are given, and which are not, and why."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

_DEEPEST = 64


class LogFile(NamedTuple):
    """A file to read."""

    path: str
    name: str
    """What it is called in an answer."""
    size: int
    """Bytes; 0 where that is not known beforehand (a pipe)."""
    changed: float = 0.0
    """Seconds."""
    identity: tuple[int, int] = (0, 0)
    """Device and inode: the same under a new name."""


class Skipped(NamedTuple):
    """Something that is not read."""

    name: str
    reason: str
    is_loss: bool = False
    """Whether lines of a log may be missing for it."""


class Globs(NamedTuple):
    """Which files of a folder are wanted, by their path below it or their name."""

    include: Sequence[str] = ()
    exclude: Sequence[str] = ()

    def want(self, below: str) -> bool:
        """Whether a path below the folder that was given passes."""
        return not _any_fits(self.exclude, below) and (not self.include or _any_fits(self.include, below))


def _any_fits(patterns: Sequence[str], below: str) -> bool:
    name = os.path.basename(below)
    return any(fnmatchcase(below, pattern) or fnmatchcase(name, pattern) for pattern in patterns)


def log_files(paths: Sequence[str], globs: Globs | None = None) -> Iterator[LogFile | Skipped]:
    """The regular files at and below the paths; links below a folder are not followed. OSError for a path itself.

    `-` is standard input.
    """
    for path in paths:
        if path == "-":
            yield LogFile(path, path, 0)
            continue
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            yield from _below(path, globs or Globs())
        elif stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode):
            yield _log_file(path, status)
        else:
            yield Skipped(path, "special file")


def _below(top: str, globs: Globs) -> Iterator[LogFile | Skipped]:
    folders = [(top, 0)]
    while folders:
        folder, depth = folders.pop()
        try:
            with os.scandir(folder) as items:
                for item in items:
                    if item.is_dir(follow_symlinks=False):
                        if depth < _DEEPEST:
                            folders.append((item.path, depth + 1))
                        else:
                            yield Skipped(item.path, "too deep")
                    elif globs.want(os.path.relpath(item.path, top)):
                        yield _file_or_reason(item)
        except OSError as error:
            yield Skipped(folder, why_not(error))


def _file_or_reason(item: os.DirEntry[str]) -> LogFile | Skipped:
    try:
        status = item.stat(follow_symlinks=False)
    except OSError as error:
        return Skipped(item.path, why_not(error))
    if stat.S_ISREG(status.st_mode):
        return _log_file(item.path, status)
    return Skipped(item.path, "link" if stat.S_ISLNK(status.st_mode) else "special file")


def _log_file(path: str, status: os.stat_result) -> LogFile:
    return LogFile(path, path, status.st_size, status.st_mtime, (status.st_dev, status.st_ino))


def why_not(error: OSError) -> str:
    """The reason for which something could not be read, in a few words."""
    if isinstance(error, FileNotFoundError):
        return "vanished"
    return (error.strerror or str(error) or "cannot be read").lower()
