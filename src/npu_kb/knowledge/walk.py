"""The files of a folder of knowledge, within limits: a wrong --kb must not read a whole disk."""

from __future__ import annotations

import os
from itertools import islice
from typing import NamedTuple

_MAX_DEPTH = 12
_MAX_ITEMS = 50_000
_MAX_FILES = 5_000
_MAX_BYTES = 50_000_000
"""Limits of one folder of knowledge: how deep, how many items and YAML files, and their size in all."""
_MAX_FILE = 2_000_000
"""Of a larger file no more is ever read."""


class Walk(NamedTuple):
    """The YAML files of a folder as (path, time, size), and (path, what is wrong and the mend) of what was left out."""

    files: list[tuple[str, int, int]]
    faults: list[tuple[str, str]]


def walk(directory: str) -> Walk:
    """All *.yaml below a folder, without hidden names and without following links to folders."""
    found, folders, items, size = Walk([], []), [(directory, 0)], 0, 0
    while folders:
        folder, depth = folders.pop()
        for item in _items(folder, found.faults):
            items += 1
            if item.name.startswith("."):
                continue
            if item.is_dir(follow_symlinks=False):
                if depth < _MAX_DEPTH:
                    folders.append((item.path, depth + 1))
                else:
                    found.faults.append((item.path, f"is more than {_MAX_DEPTH} folders deep; move it up"))
            elif item.is_symlink() and os.path.isdir(item.path):
                found.faults.append((item.path, "is a link to a folder and not followed; put the folder itself here"))
            elif item.name.endswith(".yaml"):
                found.files.append(_stamp(item))
                size += min(found.files[-1][2], _MAX_FILE)
            if items > _MAX_ITEMS or len(found.files) > _MAX_FILES or size > _MAX_BYTES:
                found.faults.append((directory, "holds too much for knowledge; name a smaller folder"))
                return found
    return found


def _items(folder: str, faults: list[tuple[str, str]]) -> list[os.DirEntry[str]]:
    """What stands in a folder, at most one more than may be; one that cannot be read is a fault."""
    try:
        with os.scandir(folder) as items:
            return list(islice(items, _MAX_ITEMS + 1))
    except OSError as error:
        faults.append((folder, f"cannot be read: {error.strerror}; mend its permissions"))
        return []


def _stamp(item: os.DirEntry[str]) -> tuple[str, int, int]:
    """(path, time, size) of a file; zeros for a link into nothing."""
    try:
        status = item.stat()
    except OSError:
        return item.path, 0, 0
    return item.path, status.st_mtime_ns, status.st_size
