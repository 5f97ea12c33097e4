"""YAML with places: every value knows its line and column, and duplicate keys are faults."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from npu_kb.errors import Problem

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LIMIT_BYTES = 2_000_000

Where = tuple[str | int, ...]


@dataclass(frozen=True)
class Located:
    """A parsed YAML document: its plain value, and the place of each node by its path into the value."""

    path: Path
    value: Any
    marks: dict[Where, tuple[int, int]]

    def problem(self, where: Where, message: str) -> Problem:
        """A problem at the node `where`, or at its nearest parent that stands in the file.

        An index that is not in the file belongs to a list that was written as its single value.
        """
        at: Where = ()
        for part in where:
            if (*at, part) in self.marks:
                at = (*at, part)
            elif not isinstance(part, int):
                break
        line, column = self.marks.get(at, (1, 1))
        return Problem(self.path, line, column, ".".join(map(str, where)), message)


def read_yaml(path: Path) -> tuple[Located | None, list[Problem]]:
    """Parse one file; problems instead of exceptions for all that can be wrong with it."""
    try:
        if path.stat().st_size > _LIMIT_BYTES:
            return None, [Problem(path, 1, 1, "", f"file is larger than {_LIMIT_BYTES} bytes; split it")]
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        return None, [Problem(path, 1, 1, "", f"not UTF-8 at byte {error.start}; save the file as UTF-8")]
    except OSError as error:
        return None, [Problem(path, 1, 1, "", f"cannot be read: {error.strerror}")]
    loader = _LOADER(text)
    try:
        node = loader.get_single_node()
        marks: dict[Where, tuple[int, int]] = {}
        problems = [] if node is None else _walk(path, node, (), marks, set())
        value = None if node is None or problems else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, [_syntax_problem(path, error)]
    finally:
        loader.dispose()
    return (None if problems else Located(path, value, marks)), problems


def _walk(path: Path, node: Any, where: Where, marks: dict[Where, tuple[int, int]], above: set[int]) -> list[Problem]:
    marks[where] = (node.start_mark.line + 1, node.start_mark.column + 1)
    if id(node) in above or len(where) > 12:
        return [Problem(path, *marks[where], ".".join(map(str, where)), "nested too deeply; write it out flat")]
    above = above | {id(node)}
    problems: list[Problem] = []
    if isinstance(node, yaml.SequenceNode):
        for i, child in enumerate(node.value):
            problems += _walk(path, child, (*where, i), marks, above)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, child in node.value:
            name = str(key.value)
            if name in seen:
                place = (key.start_mark.line + 1, key.start_mark.column + 1)
                problems.append(
                    Problem(path, *place, ".".join(map(str, (*where, name))), "key stands twice; keep one of them")
                )
            seen.add(name)
            problems += _walk(path, child, (*where, name), marks, above)
    return problems


def _syntax_problem(path: Path, error: Exception) -> Problem:
    mark = getattr(error, "problem_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return Problem(path, line, column, "", f"not valid YAML: {what}; quote texts that hold ': ', '#' or brackets")
