"""kb/ as written: read and validated, with all problems at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, Field, ValidationError, model_validator

from npu_kb.errors import Problem
from npu_kb.knowledge.checklist import Checklist
from npu_kb.knowledge.entry import Bilingual, Model, Slug
from npu_kb.knowledge.entryfile import LoadedEntry as LoadedEntry
from npu_kb.knowledge.entryfile import is_built_in
from npu_kb.knowledge.entryfile import load_entry as load_entry
from npu_kb.knowledge.matrixfile import read_matrix
from npu_kb.knowledge.signatures import FOLDER, SignatureTable, read_signatures
from npu_kb.knowledge.walk import walk
from npu_kb.knowledge.wording import MAX_PROBLEMS, problems_of
from npu_kb.knowledge.yamlfile import Located, Where, read_yaml

if TYPE_CHECKING:
    from npu_kb.codes.model import CodeRow

Table = TypeVar("Table", dict[str, Any], list[Any])

_TABLES = ("topics.yaml", "next_steps.yaml", "trackers.yaml", "commands.yaml", "synonyms.yaml")
_FOLDERS = ("codes", "signatures", "matrix", "checklists", "goodlogs", "schema")
"""What stands in a kb folder beside its entries."""


class Tracker(Model):
    """Where an issue is filed if one of the words stands in the log."""

    name: str = Field(min_length=1)
    url: str = Field(pattern=r"^https?://\S+$")
    when: list[str] = Field(default=[])


class NextStep(Model):
    """What to capture if one of the words stands in the log, where no such step fits (`otherwise`), or always."""

    when: list[str] = Field(default=[])
    otherwise: bool = False
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
    signatures: dict[str, SignatureTable] = field(default_factory=dict)
    """Tables of one-line faults by file name."""
    matrix: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    """Rows of the version matrix by table and key."""
    problems: list[Problem] = field(default_factory=list)
    """Why files and rows were left out."""
    link_problems: list[Problem] = field(default_factory=list)
    """Commands and entries that checklists name and that do not exist."""


def load_entries(directories: list[Path], trusted: bool = False) -> LoadedKnowledge:
    """Read all that the given kb folders hold; an id in a later folder replaces the earlier entry, row or command.

    What is `trusted` counts as built in: its regexes are not tried on texts made to hurt them.
    """
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
        loaded.matrix.update(read_matrix(directory / "matrix", paths, loaded.problems))
        own = trusted or is_built_in(directory)
        loaded.signatures.update(_signatures([p for p in paths if directory / FOLDER in p.parents], loaded, own))
        loaded.entries.update(_entries(entry_files(directory, paths), loaded, own))
    _name_double_aliases(loaded)
    loaded.link_problems += [p for item in loaded.checklists.values() for p in _dead_links(item, loaded)]
    return loaded


def _entries(paths: list[Path], loaded: LoadedKnowledge, trusted: bool) -> dict[str, LoadedEntry]:
    here: dict[str, LoadedEntry] = {}
    for path in paths:
        item, problems = load_entry(path, trusted)
        loaded.problems += problems
        if item is None:
            continue
        if item.entry.id in here:
            other = here[item.entry.id].file.path
            loaded.problems.append(item.file.problem(("id",), f"stands in {other} too; give one of them another id"))
        here[item.entry.id] = item
    return here


def _signatures(paths: list[Path], loaded: LoadedKnowledge, trusted: bool) -> dict[str, SignatureTable]:
    """The tables of one-line faults of one kb folder, by file name."""
    tables: dict[str, SignatureTable] = {}
    for path in paths:
        table, problems = read_signatures(path, trusted)
        loaded.problems += problems
        if table:
            tables[path.stem] = table
    return tables


def entry_files(directory: Path, paths: list[Path]) -> list[Path]:
    """entries/**/*.yaml; without a folder entries/, all that stands neither in another known folder nor is a table."""
    root = directory / "entries"
    if root.is_dir():
        return [path for path in paths if root in path.parents]
    within = {path: path.relative_to(directory).parts for path in paths}
    return [path for path, parts in within.items() if parts[0] not in (_FOLDERS if len(parts) > 1 else _TABLES)]


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
        loaded.problems += problems_of(error, file, where)
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
    if not is_built_in(path):
        file = Located(path, {name: value for name, value in table.items() if name != "refused"}, file.text)
    reader = CommandReader(file)
    commands = reader.read().documents()
    loaded.problems += reader.problems[:MAX_PROBLEMS]
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


def _dead_links(item: LoadedChecklist, loaded: LoadedKnowledge) -> Iterator[Problem]:
    """The commands and entries that a checklist names and that do not exist."""
    for i, step in enumerate(item.checklist.steps):
        if step.command and step.command not in loaded.commands:
            yield item.file.problem(("steps", i, "command"), f"{step.command!r} is not in kb/commands.yaml")
        for j, id in enumerate(step.entries):
            if id not in loaded.entries:
                yield item.file.problem(("steps", i, "entries", j), f"no entry has the id {id!r}")
