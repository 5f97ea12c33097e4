"""kb/ as written: read and validated, with all problems at once."""

from __future__ import annotations

import difflib
import math
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from npu_kb import locations
from npu_kb.errors import Problem
from npu_kb.knowledge.base import walk
from npu_kb.knowledge.checklist import Checklist
from npu_kb.knowledge.entry import Bilingual, Block, Entry, Model, Slug
from npu_kb.knowledge.yamlfile import Located, Where, read_yaml
from npu_kb.patterns import REGEX_CHARS, WINDOW_CHARS, TextPattern, hostile_texts, is_ambiguous

if TYPE_CHECKING:
    from npu_kb.codes.model import CodeRow

Table = TypeVar("Table", dict[str, Any], list[Any])

_TABLES = ("topics.yaml", "next_steps.yaml", "trackers.yaml", "commands.yaml", "synonyms.yaml")
_FOLDERS = ("codes", "matrix", "checklists", "goodlogs", "schema")
"""What stands in a kb folder beside its entries."""
_MAX_PROBLEMS = 100
"""Faults that are named of one file."""
_MAX_REGEX = 1_000
_HOSTILE_SECONDS = 0.3
"""Time that a pattern from outside the built-in knowledge may take on all hostile texts."""


class Tracker(Model):
    """Where an issue is filed if one of the words stands in the log."""

    name: str = Field(min_length=1)
    url: str = Field(pattern=r"^https?://\S+$")
    when: list[str] = Field(default=[])


class NextStep(Model):
    """What to capture if one of the words stands in the log, or always."""

    when: list[str] = Field(default=[])
    always: bool = False
    command: Slug | None = None
    run: str | None = Field(default=None, min_length=2)
    why: Bilingual

    @model_validator(mode="after")
    def _one_form(self) -> NextStep:
        if (self.command is None) == (self.run is None):
            raise ValueError("give either command (an id of commands.yaml) or run (the command itself)")
        return self


@dataclass
class LoadedEntry:
    """A valid entry and the file that it stands in."""

    entry: Entry
    file: Located

    @property
    def is_foreign(self) -> bool:
        """Whether it is from outside the built-in knowledge, so that its regexes get a budget."""
        return not _is_built_in(self.file.path)


@dataclass
class LoadedChecklist:
    """A valid checklist and the file that it stands in."""

    checklist: Checklist
    file: Located


@dataclass
class LoadedKnowledge:
    """What the folders hold: entries by id (later folders win), tables, codes, and what is wrong."""

    entries: dict[str, LoadedEntry] = field(default_factory=dict)
    topics: dict[str, dict[str, str]] = field(default_factory=dict)
    next_steps: list[dict[str, Any]] = field(default_factory=list)
    trackers: list[dict[str, Any]] = field(default_factory=list)
    codes: dict[tuple[str, str], CodeRow] = field(default_factory=dict)
    commands: dict[str, dict[str, Any]] = field(default_factory=dict)
    checklists: dict[str, LoadedChecklist] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    """Why files and rows were left out."""
    link_problems: list[Problem] = field(default_factory=list)
    """What is wrong between files that could be read: unknown topics, links into nothing."""


def load_entries(directories: list[Path]) -> LoadedKnowledge:
    """Read all that the given kb folders hold; an id in a later folder replaces the earlier entry, row or command."""
    loaded = LoadedKnowledge()
    for directory in directories:
        found = walk(str(directory))
        paths = sorted(Path(path) for path, _, _ in found.files)
        loaded.problems += [Problem(Path(path), 1, 1, "", message) for path, message in found.faults]
        loaded.topics.update(_topics(directory / "topics.yaml", loaded))
        loaded.next_steps += _rows(directory / "next_steps.yaml", NextStep, loaded)
        loaded.trackers[:0] = _rows(directory / "trackers.yaml", Tracker, loaded)
        loaded.codes.update(_codes([path for path in paths if path.parent == directory / "codes"], loaded))
        loaded.commands.update(_commands(directory / "commands.yaml", loaded))
        loaded.checklists.update(_checklists([p for p in paths if p.parent == directory / "checklists"], loaded))
        loaded.entries.update(_entries(_entry_files(directory, paths), loaded))
    _name_double_aliases(loaded)
    loaded.link_problems += _cross_problems(loaded)
    return loaded


def _entries(paths: list[Path], loaded: LoadedKnowledge) -> dict[str, LoadedEntry]:
    here: dict[str, LoadedEntry] = {}
    for path in paths:
        item, problems = load_entry(path)
        loaded.problems += problems
        if item is None:
            continue
        if item.entry.id in here:
            other = here[item.entry.id].file.path
            loaded.problems.append(item.file.problem(("id",), f"stands in {other} too; give one of them another id"))
        here[item.entry.id] = item
    return here


def _entry_files(directory: Path, paths: list[Path]) -> list[Path]:
    """entries/**/*.yaml; without a folder entries/, all that stands neither in another known folder nor is a table."""
    root = directory / "entries"
    if root.is_dir():
        return [path for path in paths if root in path.parents]
    within = {path: path.relative_to(directory).parts for path in paths}
    return [path for path, parts in within.items() if parts[0] not in (_FOLDERS if len(parts) > 1 else _TABLES)]


def load_entry(path: Path) -> tuple[LoadedEntry | None, list[Problem]]:
    """Read one entry file."""
    file, problems = read_yaml(path)
    if file is None:
        return None, problems
    if isinstance(file.value, dict) and "rows" in file.value and "id" not in file.value:
        message = "holds codes and is no entry; keep it in the folder codes/ of a kb folder"
        return None, [file.problem(("rows",), message)]
    if faults := [file.problem(*fault) for fault in _regex_faults(file)]:
        return None, faults[:_MAX_PROBLEMS]
    try:
        entry = Entry.model_validate(_for_pydantic(file.value))
    except ValidationError as error:
        return None, _problems_of(error, file)
    if faults := [file.problem(*fault) for fault in _value_faults(entry, foreign=not _is_built_in(path))]:
        return None, faults[:_MAX_PROBLEMS]
    if entry.id != path.stem:
        problems.append(file.problem(("id",), f"differs from the file name; rename the file to {entry.id}.yaml"))
    return LoadedEntry(entry, file), problems


def _is_built_in(path: Path) -> bool:
    return Path(locations.builtin_kb_directory()).resolve() in path.resolve().parents


def _regex_faults(file: Located) -> Iterator[tuple[Where, str]]:
    """What `re` refuses, in whatever way it does so, and what it only warns of."""
    blocks = file.value.get("match") if isinstance(file.value, dict) else None
    for i, block in enumerate(blocks if isinstance(blocks, list) else []):
        written = block.get("regex") if isinstance(block, dict) else None
        for j, source in enumerate(written if isinstance(written, list) else [written]):
            if isinstance(source, str) and (fault := _regex_fault(source)):
                yield ("match", i, "regex", *([j] if isinstance(written, list) else [])), fault


def _regex_fault(source: str) -> str:
    if len(source) > _MAX_REGEX:
        return f"is longer than {_MAX_REGEX} characters; write it as several"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(source, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError, MemoryError, ValueError, Warning) as error:
        return f"not a regular expression: {error}; mend it or use `text:`"
    return ""


def _value_faults(entry: Entry, foreign: bool) -> Iterator[tuple[Where, str]]:
    """What the model lets pass and matching could not use."""
    for name, ranges in (("affected", entry.versions.affected), ("fixed", entry.versions.fixed)):
        for component, version in ranges.items():
            if not version.strip(" ,<>=!~"):
                yield ("versions", name, component), "names no version; write one such as '8.0.0', or remove it"
    for i, block in enumerate(entry.match):
        for j, fact in enumerate(block.fact):
            if not all(math.isfinite(bound) for bound in (fact.above, fact.below) if isinstance(bound, float)):
                yield ("match", i, "fact", j), "has a bound that is no number; write one such as 85"
        for where, message in _runaways(block) if foreign else ():
            yield ("match", i, *where), message


def _runaways(block: Block) -> Iterator[tuple[Where, str]]:
    """What could take its time on a line made for it."""
    for j, source in enumerate(block.regex):
        if _is_slow(source, REGEX_CHARS):
            yield ("regex", j), "can run away; avoid nested, adjacent and many repeats, or use `text:`"
    for kind in ("text", "any", "none"):
        for j, source in enumerate(getattr(block, kind)):
            regex = TextPattern.parse(source).regex
            if regex is not None and _is_slow(regex, 2 * WINDOW_CHARS):
                yield (kind, j), "can run away; write it as several texts, or with more fixed words between"


def _is_slow(regex: str, longest: int) -> bool:
    """Whether the regex, or a text made to hurt it, takes too long; texts grow slowly, so that the test ends soon."""
    try:
        if is_ambiguous(regex):
            return True
    except RecursionError:
        return True
    compiled = re.compile(regex, re.IGNORECASE)
    start, length = time.process_time(), 8
    while length <= longest:
        for text in hostile_texts(regex, length):
            compiled.search(text)
            if time.process_time() - start > _HOSTILE_SECONDS:
                return True
        length = max(length + 2, length * 5 // 4)
    return False


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
    if kind == "string_too_short":
        return where, f"is {given!r}; write at least {error['ctx']['min_length']} characters"
    if kind == "string_pattern_mismatch":
        return where, f"is {given!r}, which does not fit {error['ctx']['pattern']}"
    return where, str(error["msg"]).removeprefix("Value error, ").replace("Input", "this")


def _nearest(name: str, where: Where) -> str:
    names = list(Entry.model_fields) if len(where) == 1 else []
    close = difflib.get_close_matches(name, names, 1)
    return f" (did you mean {close[0]}?)" if close else ""


def _problems_of(error: ValidationError, file: Located, above: Where = ()) -> list[Problem]:
    """The problems of a value that stands at `above` in the file."""
    found = (_in_yaml_words(file, fault) for fault in error.errors()[:_MAX_PROBLEMS])
    return [file.problem((*above, *where), message) for where, message in found]


def _read_table(path: Path, empty: Table, loaded: LoadedKnowledge) -> tuple[Located | None, Table]:
    """A plain YAML file and its value of the expected shape, or `empty` where there is none or it is wrong."""
    if not path.exists() and not path.is_symlink():
        return None, empty
    file, problems = read_yaml(path)
    loaded.problems += problems
    if file is None or file.value is None:
        return None, empty
    if not isinstance(file.value, type(empty)):
        shape = "map of names to values" if isinstance(empty, dict) else "list; start each item with -"
        loaded.problems.append(file.problem((), f"must be a {shape}"))
        return None, empty
    return file, file.value


def _topics(path: Path, loaded: LoadedKnowledge) -> dict[str, dict[str, str]]:
    """The good rows of a topics.yaml."""
    file, table = _read_table(path, {}, loaded)
    good: dict[str, dict[str, str]] = {}
    if file is None:
        return good
    for id, names in table.items():
        if not isinstance(id, str):
            loaded.problems.append(file.problem((str(id),), "an id must be a word; put it in quotes"))
        elif _is_good(names, Bilingual, file, (id,), loaded):
            good[id] = names
    return good


def _rows(path: Path, model: type[BaseModel], loaded: LoadedKnowledge) -> list[dict[str, Any]]:
    """The good rows of a table that is a list."""
    file, table = _read_table(path, [], loaded)
    return [row for i, row in enumerate(table) if _is_good(row, model, file, (i,), loaded)] if file else []


def _is_good(row: object, model: type[BaseModel], file: Located, where: Where, loaded: LoadedKnowledge) -> bool:
    try:
        model.model_validate(row)
    except ValidationError as error:
        loaded.problems += _problems_of(error, file, where)
        return False
    return True


def _codes(paths: list[Path], loaded: LoadedKnowledge) -> dict[tuple[str, str], CodeRow]:
    """The good rows of the catalogues of one kb folder; of a code that stands twice, the first."""
    from npu_kb.codes.catalogue import read_catalogue

    rows: dict[tuple[str, str], CodeRow] = {}
    for path in paths:
        try:
            for where, row in read_catalogue(path, loaded.problems):
                if rows.setdefault((row["family"], row["key"]), row) is not row:
                    loaded.problems.append(where("code", f"{row['code']} stands twice; keep one of the two"))
        except (AttributeError, KeyError, TypeError):
            message = "`sources` must map names to texts, `handling` levels to {en, zh}, `family` be a word; mend it"
            loaded.problems.append(Problem(path, 1, 1, "", message))
    return rows


def _checklists(paths: list[Path], loaded: LoadedKnowledge) -> dict[str, LoadedChecklist]:
    """The good checklists of one kb folder, by id."""
    checklists: dict[str, LoadedChecklist] = {}
    for path in paths:
        file, table = _read_table(path, {}, loaded)
        if file is None or not _is_good(table, Checklist, file, (), loaded):
            continue
        item = LoadedChecklist(Checklist.model_validate(table), file)
        if item.checklist.id != path.stem:
            message = f"differs from the file name; rename the file to {item.checklist.id}.yaml"
            loaded.problems.append(file.problem(("id",), message))
        checklists[item.checklist.id] = item
    return checklists


def _commands(path: Path, loaded: LoadedKnowledge) -> dict[str, dict[str, Any]]:
    """The good commands of a commands.yaml, as plain JSON values; what an overlay refuses is not asked for."""
    from npu_kb.knowledge.commands import CommandReader

    file, table = _read_table(path, {}, loaded)
    if file is None:
        return {}
    if not _is_built_in(path):
        file = Located(path, {name: value for name, value in table.items() if name != "refused"}, file.text)
    reader = CommandReader(file)
    commands = reader.read().documents()
    loaded.problems += reader.problems[:_MAX_PROBLEMS]
    bad = {problem.field.split(".")[1] for problem in reader.problems if problem.field.startswith("commands.")}
    return {id: command for id, command in commands.items() if id.split(".")[0] not in bad}


def _name_double_aliases(loaded: LoadedKnowledge) -> None:
    """An alias belongs to the first entry that has it; the others' are left out by compile.py."""
    owners: dict[str, str] = {}
    for id, item in loaded.entries.items():
        for i, alias in enumerate(item.entry.aliases):
            if alias in owners:
                message = f"{alias!r} is an alias of {owners[alias]} already; remove one of the two"
                loaded.problems.append(item.file.problem(("aliases", i), message))
            owners.setdefault(alias, id)


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
    return problems + [problem for item in loaded.checklists.values() for problem in _dead_links(item, loaded)]


def _dead_links(item: LoadedChecklist, loaded: LoadedKnowledge) -> Iterator[Problem]:
    """The commands and entries that a checklist names and that do not exist."""
    for i, step in enumerate(item.checklist.steps):
        if step.command and step.command not in loaded.commands:
            yield item.file.problem(("steps", i, "command"), f"{step.command!r} is not in kb/commands.yaml")
        for j, id in enumerate(step.entries):
            if id not in loaded.entries:
                yield item.file.problem(("steps", i, "entries", j), f"no entry has the id {id!r}")
