"""One entry file: read, held against the model, and with all that is wrong in it at once."""

from __future__ import annotations

import math
import re
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from npu_kb import locations
from npu_kb.errors import Problem
from npu_kb.files import real
from npu_kb.knowledge.entry import Block, Entry
from npu_kb.knowledge.wording import MAX_PROBLEMS, problems_of
from npu_kb.knowledge.yamlfile import Located, Where, read_yaml
from npu_kb.patterns import REGEX_CHARS, WINDOW_CHARS, TextPattern, hostile_texts, is_ambiguous

_MAX_REGEX = 1_000
_HOSTILE_SECONDS = 0.3
"""Time that a pattern from outside the built-in knowledge may take on all hostile texts."""


@dataclass
class LoadedEntry:
    """A valid entry and the file that it stands in."""

    entry: Entry
    file: Located
    is_foreign: bool = False
    """Whether it is from outside the built-in knowledge, so that its regexes get a budget."""


def load_entry(path: Path, trusted: bool = False) -> tuple[LoadedEntry | None, list[Problem]]:
    """Read one entry file; the regexes of one that is neither built in nor `trusted` must not run away."""
    file, problems = read_yaml(path)
    if file is None:
        return None, problems
    if isinstance(file.value, dict) and "rows" in file.value and "id" not in file.value:
        message = "holds rows and is no entry; keep it in the folder codes/ or signatures/ of a kb folder"
        return None, [file.problem(("rows",), message)]
    if faults := [file.problem(*fault) for fault in _regex_faults(file)]:
        return None, faults[:MAX_PROBLEMS]
    try:
        entry = Entry.model_validate(file.value if isinstance(file.value, dict) else {"id": file.value})
    except ValidationError as error:
        return None, problems_of(error, file)
    foreign = not (trusted or is_built_in(path))
    if faults := [file.problem(*fault) for fault in _value_faults(entry, foreign)]:
        return None, faults[:MAX_PROBLEMS]
    if entry.id != path.stem:
        problems.append(file.problem(("id",), f"differs from the file name; rename the file to {entry.id}.yaml"))
    return LoadedEntry(entry, file, foreign), problems


def is_built_in(path: Path) -> bool:
    """Whether the file or folder is of the knowledge that comes with the program."""
    builtin, there = real(Path(locations.builtin_kb_directory())), real(path)
    return builtin == there or builtin in there.parents


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
    if entry.status == "deprecated" and entry.superseded_by is None:
        yield ("status",), "a deprecated entry leads to another; add `superseded_by:` with the id that took its place"
    if entry.status != "deprecated" and entry.superseded_by is not None:
        yield ("superseded_by",), "is for deprecated entries; set `status: deprecated`, or remove it"
    for name, ranges in (("affected", entry.versions.affected), ("fixed", entry.versions.fixed)):
        for component, version in ranges.items():
            if not version.strip(" ,<>=!~"):
                yield ("versions", name, component), "names no version; write one such as '8.0.0', or remove it"
    for i, block in enumerate(entry.match):
        for j, fact in enumerate(block.fact):
            if not all(math.isfinite(bound) for bound in (fact.above, fact.below) if isinstance(bound, float)):
                yield ("match", i, "fact", j), "has a bound that is no number; write one such as 85"
        for where, message in runaways(block) if foreign else ():
            yield ("match", i, *where), message


def runaways(block: Block) -> Iterator[tuple[Where, str]]:
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
    return all(_takes_its_time(regex, longest) for _ in range(2))  # a busy machine makes any regex slow for a while


def _takes_its_time(regex: str, longest: int) -> bool:
    compiled = re.compile(regex, re.IGNORECASE)
    start, length = time.process_time(), 8
    while length <= longest:
        for text in hostile_texts(regex, length):
            compiled.search(text)
            if time.process_time() - start > _HOSTILE_SECONDS:
                return True
        length = max(length + 2, length * 5 // 4)
    return False
