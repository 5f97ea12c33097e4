"""YAML with places: every value knows its line and column; duplicate keys and aliases are faults."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from npu_kb.errors import Problem

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LIMIT_BYTES = 2_000_000
_MAX_DEPTH = 12
_MAX_PROBLEMS = 100
"""Faults that are named of one file."""

Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Located:
    """A parsed YAML document: its plain value, and where each of its nodes stands."""

    path: Path
    value: Any
    text: str

    def problem(self, where: Where, message: str) -> Problem:
        """A problem at the node `where`, or at its nearest parent that stands in the file.

        An index that is not in the file belongs to a list that was written as its single value.
        """
        at: Where = ()
        for part in where:
            if (*at, part) in self._marks:
                at = (*at, part)
            elif not isinstance(part, int):
                break
        line, column = self._marks.get(at, (1, 1))
        return Problem(self.path, line, column, ".".join(map(str, where)), message)

    @cached_property
    def _marks(self) -> dict[Where, tuple[int, int]]:
        """(line, column) of each node; only a file with a problem is asked for them."""
        loader = _LOADER(self.text)
        try:
            node = loader.get_single_node()
            return dict(_places(node, ())) if node is not None else {}
        finally:
            loader.dispose()


def read_yaml(path: Path) -> tuple[Located | None, list[Problem]]:
    """Parse one file; problems instead of exceptions for all that can be wrong with it."""
    text, problems = read_text(path)
    return (None, problems) if problems else _parsed(path, text)


def read_text(path: Path) -> tuple[str, list[Problem]]:
    """The text of one file; empty and a problem where it cannot be read."""
    try:
        text = _regular_text(path)
    except UnicodeDecodeError as error:
        return "", [Problem(path, 1, 1, "", f"not UTF-8 at byte {error.start}; save the file as UTF-8")]
    except OSError as error:
        return "", [Problem(path, 1, 1, "", f"cannot be read: {error.strerror}; mend or remove it")]
    if len(text) > _LIMIT_BYTES:
        return "", [Problem(path, 1, 1, "", f"file is larger than {_LIMIT_BYTES} bytes; split it")]
    return text, []


def _regular_text(path: Path) -> str:
    """The text of a regular file, at most one character more than may be; a pipe or device is an OSError at once."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "is no regular file")
        data = file.read(_LIMIT_BYTES + 1)
    return " " * len(data) if len(data) > _LIMIT_BYTES else data.decode("utf-8")


def _parsed(path: Path, text: str) -> tuple[Located | None, list[Problem]]:
    loader = None
    try:
        loader = _LOADER(text)
        node = loader.get_single_node()
        faults = [] if node is None else islice(_faults(node, (), set()), _MAX_PROBLEMS)
        problems = [_node_problem(path, *fault) for fault in faults]
        value = None if node is None or problems else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, [_syntax_problem(path, error)]
    finally:
        if loader is not None:
            loader.dispose()
    return (None if problems else Located(path, value, text)), problems


def _faults(node: Any, where: Where, seen: set[int]) -> Iterator[tuple[Any, Where, str]]:
    """(node, where, what is wrong) of aliases, of keys that stand twice or are no words, and of nodes too deep."""
    if id(node) in seen:
        yield node, where, "is used again by an alias (*name); write it out in each place"
        return
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        if not _is_encodable(node.value):
            yield node, where, "holds half of a character (a surrogate); write the whole one"
    elif len(where) > _MAX_DEPTH:
        yield node, where, "nested too deeply; write it out flat"
    elif isinstance(node, yaml.SequenceNode):
        for i, child in enumerate(node.value):
            yield from _faults(child, (*where, i), seen)
    else:
        yield from _faults_of_map(node, where, seen)


def _faults_of_map(node: Any, where: Where, seen: set[int]) -> Iterator[tuple[Any, Where, str]]:
    names: set[str] = set()
    for key, child in node.value:
        if not isinstance(key, yaml.ScalarNode):
            yield key, where, "a key must be a plain word; put brackets in quotes"
            continue
        name = str(key.value)
        if name in names:
            yield key, (*where, name), "key stands twice; keep one of them"
        names.add(name)
        yield from _faults(key, (*where, name), seen)
        yield from _faults(child, (*where, name), seen)


def _is_encodable(text: str) -> bool:
    try:
        return text.isascii() or bool(text.encode("utf-8"))
    except UnicodeEncodeError:
        return False


def _node_problem(path: Path, node: Any, where: Where, message: str) -> Problem:
    return Problem(path, *_place(node), ".".join(map(str, where)), message)


def _places(node: Any, where: Where) -> Iterator[tuple[Where, tuple[int, int]]]:
    yield where, _place(node)
    if isinstance(node, yaml.SequenceNode):
        for i, child in enumerate(node.value):
            yield from _places(child, (*where, i))
    elif isinstance(node, yaml.MappingNode):
        for key, child in node.value:
            yield from _places(child, (*where, str(key.value)))


def _place(node: Any) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1


def _syntax_problem(path: Path, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    what = getattr(error, "problem", None) or (str(error).splitlines() or ["unreadable"])[0]
    return Problem(path, line, column, "", f"not valid YAML: {what}; quote texts that hold ': ', '#' or brackets")
