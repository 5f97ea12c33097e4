"""kb/ as written: read and validated, with all problems at once."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from npu_kb.errors import Problem
from npu_kb.knowledge.entry import Entry
from npu_kb.knowledge.yamlfile import Located, Where, read_yaml

Table = TypeVar("Table", dict[str, Any], list[Any])


@dataclass
class LoadedEntry:
    """A valid entry and the file that it stands in."""

    entry: Entry
    file: Located


@dataclass
class LoadedKnowledge:
    """What the folders hold: entries by id (later folders win), topics, and what is wrong."""

    entries: dict[str, LoadedEntry] = field(default_factory=dict)
    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    next_steps: list[dict[str, Any]] = field(default_factory=list)
    trackers: list[dict[str, Any]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    """Why files were left out."""
    link_problems: list[Problem] = field(default_factory=list)
    """What is wrong between files that could be read: unknown topics, links into nothing."""


def load_entries(directories: list[Path]) -> LoadedKnowledge:
    """Read all entries of the given kb folders; an id in a later folder replaces the earlier entry."""
    loaded = LoadedKnowledge()
    for directory in directories:
        loaded.topics.update(_read_table(directory / "topics.yaml", {}, loaded))
        loaded.next_steps += _read_table(directory / "next_steps.yaml", [], loaded)
        loaded.trackers[:0] = _read_table(directory / "trackers.yaml", [], loaded)
        here: dict[str, LoadedEntry] = {}
        for path in entry_files(directory):
            item, problems = load_entry(path)
            loaded.problems += problems
            if item is None:
                continue
            if item.entry.id in here:
                other = here[item.entry.id].file.path
                loaded.problems.append(
                    item.file.problem(("id",), f"stands in {other} too; give one of them another id")
                )
            here[item.entry.id] = item
        loaded.entries.update(here)
    loaded.link_problems += _cross_problems(loaded)
    return loaded


def entry_files(directory: Path) -> list[Path]:
    """All entry files of a kb folder: entries/**/*.yaml, or **/*.yaml where an overlay has no entries/ folder."""
    root = directory / "entries"
    return sorted((root if root.is_dir() else directory).rglob("*.yaml"))


def load_entry(path: Path) -> tuple[LoadedEntry | None, list[Problem]]:
    """Read one entry file."""
    file, problems = read_yaml(path)
    if file is None:
        return None, problems
    try:
        entry = Entry.model_validate(_for_pydantic(file.value))
    except ValidationError as error:
        return None, [file.problem(*_in_yaml_words(file, e)) for e in error.errors()]
    if entry.id != path.stem:
        problems.append(file.problem(("id",), f"differs from the file name; rename the file to {entry.id}.yaml"))
    return LoadedEntry(entry, file), problems


def _for_pydantic(value: Any) -> Any:
    return value if isinstance(value, dict) else {"id": value}


def _in_yaml_words(file: Located, error: Any) -> tuple[Where, str]:
    """Where and what, in the words of the file and with the mend, for one pydantic error."""
    where: Where = tuple(p for p in error["loc"] if isinstance(p, int) or not p.startswith("function-"))
    kind, given = error["type"], error["input"]
    if kind == "missing":
        return where, "is missing; add it"
    if kind == "extra_forbidden":
        return where, f"is not a field{_nearest(str(where[-1]), where)}; remove or rename it"
    if kind == "string_type" and isinstance(given, (int, float)):
        return where, f"YAML reads this as {type(given).__name__} {given!r}; put it in quotes"
    if kind == "literal_error":
        return where, f"is {given!r}; allowed are {error['ctx']['expected']}"
    if kind == "string_pattern_mismatch":
        return where, f"is {given!r}, which does not fit {error['ctx']['pattern']}"
    return where, str(error["msg"]).removeprefix("Value error, ").replace("Input", "this")


def _nearest(name: str, where: Where) -> str:
    names = list(Entry.model_fields) if len(where) == 1 else []
    close = difflib.get_close_matches(name, names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _read_table(path: Path, empty: Table, loaded: LoadedKnowledge) -> Table:
    """The value of a plain YAML file of the expected shape, or `empty` where there is none or it is wrong."""
    if not path.is_file():
        return empty
    file, problems = read_yaml(path)
    loaded.problems += problems
    if file is None:
        return empty
    if not isinstance(file.value, type(empty)):
        loaded.problems.append(file.problem((), f"must be a YAML {type(empty).__name__}"))
        return empty
    return file.value


def _cross_problems(loaded: LoadedKnowledge) -> list[Problem]:
    """Faults between files: unknown topics, links to entries that do not exist, aliases that clash."""
    problems: list[Problem] = []
    owners = {alias: id for id, item in loaded.entries.items() for alias in item.entry.aliases}
    for item in loaded.entries.values():
        entry, file = item.entry, item.file
        if loaded.topics and entry.topic not in loaded.topics:
            near = difflib.get_close_matches(entry.topic, loaded.topics, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            problems.append(file.problem(("topic",), f"{entry.topic!r} is not in kb/topics.yaml{hint}"))
        for name in ("causes", "related"):
            for i, id in enumerate(getattr(entry, name)):
                if id not in loaded.entries and id not in owners:
                    near = difflib.get_close_matches(id, loaded.entries, 1)
                    hint = f" (did you mean {near[0]}?)" if near else ""
                    problems.append(file.problem((name, i), f"no entry has the id {id!r}{hint}"))
        if entry.id in owners:
            problems.append(file.problem(("id",), f"is an alias of {owners[entry.id]}; an id is never reused"))
    return problems
