"""The logs of the stack on this machine: whose they are, the newest first, and what is read of each."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from npu_kb.environment.root import Root

_HEAD, _TAIL = 250_000, 750_000
"""Bytes kept of a larger file: how it began, and how it ended."""
_MOST_FILES = 20_000
_MOST_DEPTH = 8
_SETTINGS = {"ASCEND_PROCESS_LOG_PATH": "", "ASCEND_WORK_PATH": "/log"}
"""Environment variables that move the logs, and the folder below them."""


class LogFile(NamedTuple):
    """A log: its place in the archive, its path on this machine, seconds since 1970, bytes."""

    name: str
    path: str
    changed: float
    size: int


class Excerpt(NamedTuple):
    """What was read of a file, and how many bytes of its middle were not."""

    data: bytes
    left_out: int


def find_logs(root: Root, settings: Mapping[str, str]) -> list[LogFile]:
    """The logs of all users that can be listed, the last changed first; links to files are not followed."""
    found: dict[tuple[int, int], LogFile] = {}
    for label, folder in log_folders(root, settings).items():
        for path in _walk(folder):
            with suppress(OSError):
                status = os.lstat(path)
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_size:
                    name = f"{label}/{os.path.relpath(path, folder)}"
                    log = LogFile(name, path, status.st_mtime, status.st_size)
                    found.setdefault((status.st_dev, status.st_ino), log)
    return sorted(found.values(), key=lambda log: (-log.changed, log.name))[:_MOST_FILES]


def given_logs(path: str) -> list[LogFile]:
    """The log, or the logs of a folder, that the user names; OSError if there is none."""
    real = os.path.realpath(path)
    label = f"given/{os.path.basename(real)}"
    if not stat.S_ISDIR(os.stat(real).st_mode):
        return [_log_file(label, real)]
    logs = (_log_file(f"{label}/{os.path.relpath(inner, real)}", inner) for inner in sorted(_walk(real)))
    return sorted((log for log in logs if not os.path.islink(log.path)), key=lambda log: (-log.changed, log.name))


def _log_file(name: str, path: str) -> LogFile:
    status = os.lstat(path)
    return LogFile(name, path, status.st_mtime, status.st_size)


def log_folders(root: Root, settings: Mapping[str, str]) -> dict[str, str]:
    """{label in the archive: folder on this machine} of the places where CANN and the driver write logs."""
    folders = {"driver": "/var/log/npu"}
    for name, below in _SETTINGS.items():
        if settings.get(name, "").startswith("/"):
            folders[name.lower()] = settings[name] + below
    trusted = {label: root.outside(root.resolve(path)) for label, path in folders.items()}
    home = settings.get("HOME", "/root")
    homes = dict.fromkeys([home, "/root", *(f"/home/{name}" for name in root.names("/home"))])
    users = {f"user{number}": _log_folder(root, path) for number, path in enumerate(homes)}
    return {**{label: folder for label, folder in users.items() if folder}, **trusted}


def _log_folder(root: Root, home: str) -> str | None:
    """~/ascend/log of a user; none where it is a link to what belongs to somebody else."""
    with suppress(OSError):
        folder = root.resolve(f"{home}/ascend/log")
        if root.status(folder).st_uid == root.status(home).st_uid:
            return root.outside(folder)
    return None


def _walk(folder: str) -> Iterator[str]:
    """The paths of all files below, at most so many and so deep."""
    count = 0
    for parent, folders, files in os.walk(folder):
        if os.path.relpath(parent, folder).count("/") >= _MOST_DEPTH:
            folders.clear()
        for name in files:
            count += 1
            if count > _MOST_FILES:
                return
            yield os.path.join(parent, name)


def read_excerpt(path: str) -> Excerpt:
    """The head and the tail of a file, cut at line ends; OSError if it is a link or cannot be read."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        size = os.fstat(handle).st_size
        if size <= _HEAD + _TAIL:
            return Excerpt(file.read(_HEAD + _TAIL), 0)
        head = file.read(_HEAD)
        file.seek(size - _TAIL)
        return _joined(head, file.read(_TAIL), size - _HEAD - _TAIL)


def excerpt_of(data: bytes) -> Excerpt:
    """The head and the tail of what a command printed."""
    if len(data) <= _HEAD + _TAIL:
        return Excerpt(data, 0)
    return _joined(data[:_HEAD], data[-_TAIL:], len(data) - _HEAD - _TAIL)


def _joined(head: bytes, tail: bytes, between: int) -> Excerpt:
    """Whole lines of both, as far as there are any, with a line between them that says what is missing."""
    end, start = head.rfind(b"\n") + 1 or len(head), tail.find(b"\n") + 1
    left_out = between + len(head) - end + start
    return Excerpt(head[:end] + b"[npu-kb: %d bytes left out here]\n" % left_out + tail[start:], left_out)


def is_binary(data: bytes) -> bool:
    """Whether this is no text (UTF-16 apart)."""
    return b"\0" in data[:8000] and data[:2] not in (b"\xff\xfe", b"\xfe\xff")
