"""kb/commands.yaml: the diagnostic commands that entries name by id, and the wrong ones that no entry may use."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from npu_kb.errors import KnowledgeError
from npu_kb.knowledge.slug import SLUG

if TYPE_CHECKING:
    from npu_kb.errors import Problem
    from npu_kb.knowledge.yamlfile import Located, Where

Text = dict[str, str]
"""The same thing in both languages, under `en` and `zh`."""

EFFECTS = ("read", "write", "restart", "reset", "replace")
CHIPS = ("310", "310B", "310P", "910A", "910B", "910_93", "950")

_PLACEHOLDER = re.compile(r"<([a-z]+(?:-[a-z]+)*)>")
_PARTS = ("placeholders", "commands", "refused")
_COMMAND_FIELDS = ("run", "effect", "root", "products", "shows", "trouble", "note", "source")
_REFUSED_FIELDS = ("pattern", "run", "instead", "why", "source")


@dataclass(frozen=True)
class Command:
    """One command line, with <words> in it that are replaced before it is run."""

    id: str
    run: str
    effect: str
    root: bool | Text
    """Whether it needs root, or in words when it does."""
    products: tuple[str, ...]
    """The chips that know it; none named means all."""
    shows: Text
    source: str
    trouble: Text | None = None
    note: Text | None = None
    placeholders: dict[str, Text] | None = None
    """What stands for each <word> of `run` and `note`."""

    def document(self) -> dict[str, Any]:
        """The command as plain JSON values, without what is not set."""
        document = {name: value for name, value in asdict(self).items() if value is not None}
        return document | {"products": list(self.products)}


@dataclass(frozen=True)
class Refusal:
    """A wrong command of public guides, and the right one."""

    pattern: re.Pattern[str]
    run: str
    instead: str
    why: Text
    source: str

    def __str__(self) -> str:
        return f"`{self.run}` is wrong: {self.why['en']} Write `{self.instead}`."


class Commands:
    """The commands of one file by id, and what it refuses."""

    def __init__(self, commands: dict[str, Command], refused: list[Refusal]) -> None:
        self._commands = commands
        self._refused = refused

    def __len__(self) -> int:
        return len(self._commands)

    def __iter__(self) -> Iterator[Command]:
        return iter(self._commands.values())

    def get(self, id: str) -> Command | None:
        """The command with this id."""
        return self._commands.get(id)

    def refusal(self, text: str) -> Refusal | None:
        """The first refused command that the text uses, if there is one."""
        return next((refusal for refusal in self._refused if refusal.pattern.search(text)), None)

    def documents(self) -> dict[str, dict[str, Any]]:
        """All commands as plain JSON values, by id."""
        return {command.id: command.document() for command in self}


def read_commands(path: Path) -> Commands:
    """Read a commands.yaml; KnowledgeError with all of its problems if anything in it is wrong."""
    from npu_kb.knowledge.yamlfile import read_yaml

    file, problems = read_yaml(path)
    if file is None:
        raise KnowledgeError(problems)
    reader = CommandReader(file)
    commands = reader.read()
    if reader.problems:
        raise KnowledgeError(reader.problems)
    return commands


class CommandReader:
    """Turns a parsed file into commands and notes every problem with its place."""

    def __init__(self, file: Located) -> None:
        self._file = file
        self._explained: dict[str, Text] = {}
        self._used: set[str] = set()
        self.problems: list[Problem] = []

    def read(self) -> Commands:
        """All that could be read."""
        parts = self._fields(self._file.value, (), _PARTS, required=("commands",))
        for name, value in self._map(parts.get("placeholders", {}), ("placeholders",)).items():
            self._explained[name] = self._text(value, ("placeholders", name))
        commands = {
            id: self._command(id, value) for id, value in self._map(parts.get("commands", {}), ("commands",)).items()
        }
        for name in self._explained.keys() - self._used:
            self._wrong(("placeholders", name), "stands in no command; remove it")
        return Commands(commands, self._refusals(parts.get("refused", []), commands))

    def _command(self, id: str, value: object) -> Command:
        where: Where = ("commands", id)
        if not re.fullmatch(SLUG, id):
            self._wrong(where, "an id is lower-case words joined by -; rename it")
        fields = self._fields(
            value, where, _COMMAND_FIELDS, required=("run", "effect", "root", "products", "shows", "source")
        )
        texts = {name: self._text(fields[name], (*where, name)) for name in ("trouble", "note") if name in fields}
        run = self._string(fields.get("run", ""), (*where, "run"))
        effect = self._effect(fields.get("effect", "read"), (*where, "effect"))
        if fields and effect == "read" and "trouble" not in fields:
            self._wrong((*where, "trouble"), "is missing; say which output means trouble")
        return Command(
            id=id,
            run=run,
            effect=effect,
            root=self._root(fields.get("root", False), (*where, "root")),
            products=self._products(fields.get("products", "all"), (*where, "products")),
            shows=self._text(fields["shows"], (*where, "shows")) if "shows" in fields else {},
            source=self._string(fields.get("source", ""), (*where, "source")),
            placeholders=self._placeholders(run, texts.get("note", {}), where),
            **texts,
        )

    def _placeholders(self, run: str, note: Text, where: Where) -> dict[str, Text] | None:
        names = dict.fromkeys(_PLACEHOLDER.findall(" ".join((run, note.get("en", "")))))
        self._used.update(names)
        for name in names:
            if name not in self._explained:
                self._wrong((*where, "run"), f"uses <{name}>; explain it under placeholders")
        return {name: self._explained.get(name, {}) for name in names} or None

    def _refusals(self, value: object, commands: dict[str, Command]) -> list[Refusal]:
        if not isinstance(value, list):
            self._wrong(("refused",), "must be a list; start each item with -")
            return []
        items = (self._refusal(item, ("refused", n), commands) for n, item in enumerate(value))
        return [item for item in items if item]

    def _refusal(self, value: object, where: Where, commands: dict[str, Command]) -> Refusal | None:
        fields = self._fields(value, where, _REFUSED_FIELDS, required=_REFUSED_FIELDS)
        if not fields:
            return None
        strings = {name: self._string(fields[name], (*where, name)) for name in ("run", "instead", "source")}
        try:
            pattern = re.compile(self._string(fields["pattern"], (*where, "pattern")))
        except re.error as error:
            self._wrong((*where, "pattern"), f"is not a regular expression: {error}; mend it")
            return None
        if not pattern.search(strings["run"]):
            self._wrong((*where, "pattern"), "does not find its own `run`; mend one of them")
        rights = [strings["instead"], *(command.run for command in commands.values())]
        for right in rights:
            if pattern.search(right):
                self._wrong((*where, "pattern"), f"refuses the right command `{right}`; make it narrower")
        return Refusal(pattern=pattern, why=self._text(fields["why"], (*where, "why")), **strings)

    def _fields(
        self, value: object, where: Where, allowed: tuple[str, ...], required: tuple[str, ...]
    ) -> dict[str, Any]:
        """The map's known fields; empty if one that is required is missing."""
        fields = self._map(value, where)
        for name in fields:
            if name not in allowed:
                near = difflib.get_close_matches(name, allowed, 1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                self._wrong((*where, name), f"is not a field{hint}; remove or rename it")
        missing = [name for name in required if name not in fields]
        for name in missing:
            self._wrong((*where, name), "is missing; add it")
        return {} if missing else fields

    def _map(self, value: object, where: Where) -> dict[str, Any]:
        if isinstance(value, dict):
            return {str(name): item for name, item in value.items()}
        self._wrong(where, "must be a map of names to values")
        return {}

    def _text(self, value: object, where: Where) -> Text:
        fields = self._fields(value, where, ("en", "zh"), required=("en", "zh"))
        return {language: self._string(text, (*where, language)) for language, text in fields.items()}

    def _string(self, value: object, where: Where) -> str:
        if not isinstance(value, str):
            self._wrong(where, f"YAML reads this as {type(value).__name__} {value!r}; put it in quotes")
        elif not value.strip():
            self._wrong(where, "is empty; fill it")
        return str(value)

    def _effect(self, value: object, where: Where) -> str:
        if value not in EFFECTS:
            self._wrong(where, f"is {value!r}; allowed are {', '.join(EFFECTS)}")
        return str(value)

    def _root(self, value: object, where: Where) -> bool | Text:
        if isinstance(value, bool):
            return value
        if isinstance(value, dict):
            return self._text(value, where)
        self._wrong(where, "must be yes, no or a text in en and zh")
        return False

    def _products(self, value: object, where: Where) -> tuple[str, ...]:
        if value == "all":
            return ()
        if not _is_list(value) or not value:
            self._wrong(where, "must be all or a list of chips")
            return ()
        for n, chip in enumerate(value):
            if chip not in CHIPS:
                self._wrong((*where, n), f"is {chip!r}; allowed are all or {', '.join(map(repr, CHIPS))}")
        return tuple(map(str, value))

    def _wrong(self, where: Where, message: str) -> None:
        self.problems.append(self._file.problem(where, message))


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)
