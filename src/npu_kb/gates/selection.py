"""Which entries are checked, and the knowledge with them in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from npu_kb import locations
from npu_kb.errors import NpuKbError, Problem
from npu_kb.files import real
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.compile import compile_loaded, with_entries
from npu_kb.knowledge.entryfile import LoadedEntry, load_entry
from npu_kb.knowledge.load import LoadedKnowledge, entry_files, load_entries
from npu_kb.knowledge.signatures import FOLDER, SignatureTable, read_signatures
from npu_kb.knowledge.walk import walk

_FEW = 100
"""Files that are quicker read into the compiled knowledge than all of it is read anew."""


class Selection(NamedTuple):
    """The entries and signatures to check, all knowledge with them in it, and what is wrong with their files."""

    items: list[LoadedEntry]
    tables: list[SignatureTable]
    knowledge: Knowledge
    problems: list[Problem]


def kb_directories(kb: Path | None) -> list[Path]:
    """The folders whose knowledge keeps an entry company: the built-in one, and the one that is checked."""
    if kb is not None and not kb.is_dir():
        raise NpuKbError(f"{kb}: no such folder of knowledge; mend --kb")
    builtin = Path(locations.builtin_kb_directory())
    return [builtin] if kb is None or kb.resolve() == builtin.resolve() else [builtin, kb]


def select(roots: Sequence[Path], directories: list[Path]) -> Selection:
    """The entries in these files and folders; all of them where a root is no entry but what entries rest on."""
    missing = next((root for root in roots if not root.exists()), None)
    if missing:
        raise NpuKbError(f"{missing}: no such file or folder; give entry files of kb/entries")
    files = list(dict.fromkeys(path for root in roots for path in _files(root, directories)))
    if not roots or any(_is_shared(path, directories) for path in files):
        return _select_all(directories)
    return _select_few(files, directories) if len(files) <= _FEW else _select_many(files, directories)


def _files(root: Path, directories: list[Path]) -> list[Path]:
    """The file, or the YAML files of a folder, resolved; of a folder of its own, those of its entries."""
    if not root.is_dir():
        return [real(root)]
    found = sorted(Path(path) for path, _, _ in walk(str(root)).files)
    own = root.resolve() not in [d.resolve() for d in directories] and _home(root.resolve(), directories) is None
    tables = [path for path in found if _holds_signatures(path)]
    return [real(path) for path in ([*entry_files(root, found), *tables] if own else found)]


def _home(path: Path, directories: list[Path]) -> Path | None:
    """The kb folder in which a resolved path lies, resolved."""
    return next((d.resolve() for d in reversed(directories) if d.resolve() in path.parents), None)


def _is_shared(path: Path, directories: list[Path]) -> bool:
    """Whether the file is of a kb folder, but no entry and no table of signatures: what many entries rest on."""
    home = _home(path, directories)
    return home is not None and not _holds_signatures(path) and not entry_files(home, [path])


def _holds_signatures(path: Path) -> bool:
    return path.parent.name == FOLDER


def _select_all(directories: list[Path]) -> Selection:
    """All entries of the last folder, and all that is wrong with any file."""
    loaded = load_entries(directories)
    last = directories[-1].resolve()
    items = [item for item in loaded.entries.values() if last in item.file.path.resolve().parents]
    tables = [table for table in loaded.signatures.values() if last in table.file.path.resolve().parents]
    return Selection(items, tables, compiled(loaded), loaded.problems + loaded.link_problems)


def _select_many(files: list[Path], directories: list[Path]) -> Selection:
    loaded = load_entries(directories)
    for path in files:
        if _home(path, directories) is None:
            item, problems = load_entry(path)
            loaded.problems += problems
            loaded.entries |= {item.entry.id: item} if item else {}
    wanted = set(files)
    items = [item for item in loaded.entries.values() if item.file.path.resolve() in wanted]
    tables = [table for table in loaded.signatures.values() if table.file.path.resolve() in wanted]
    problems = [problem for problem in loaded.problems if real(problem.path) in wanted]
    return Selection(items, tables, compiled(loaded), problems)


def _select_few(files: list[Path], directories: list[Path]) -> Selection:
    """As they are now, in the company of what was compiled before they were changed."""
    listed = [path for path in files if _holds_signatures(path)]
    read = [load_entry(path) for path in files if path not in listed]
    rows = [read_signatures(path) for path in listed]
    problems = [problem for _, found in (*read, *rows) for problem in found]
    problems += _namesakes([item for item, _ in read if item], directories)
    items = list({item.entry.id: item for item, _ in read if item}.values())
    tables = [table for table, _ in rows if table]
    company = Knowledge.load(directories[1:], but_for=_as_walked(files, directories))
    return Selection(items, tables, with_entries(company, items, tables, {path.stem for path in files}), problems)


def _as_walked(files: list[Path], directories: list[Path]) -> Iterator[str]:
    """The paths as they are called when their kb folder is walked."""
    for directory in directories:
        inside = [path for path in files if directory.resolve() in path.parents]
        yield from (str(directory / path.relative_to(directory.resolve())) for path in inside)


def _namesakes(items: list[LoadedEntry], directories: list[Path]) -> Iterator[Problem]:
    """A problem for each entry of whose name its kb folder has another: a file's name is its id."""
    homes = {item.file.path: _home(item.file.path, directories) for item in items}
    walked = {
        home: entry_files(home, [Path(p) for p, _, _ in walk(str(home)).files]) for home in homes.values() if home
    }
    for item in items:
        path = item.file.path
        for other in walked.get(homes[path] or path, ()):
            if other.name == path.name and other != path:
                yield item.file.problem(("id",), f"stands in {other} too; give one of them another id")


def compiled(loaded: LoadedKnowledge) -> Knowledge:
    """Knowledge in memory; the same entries get the same search index."""
    files = [item.file for item in loaded.entries.values()] + [table.file for table in loaded.signatures.values()]
    texts = "".join(file.text for file in files)
    return Knowledge(compile_loaded(loaded, f"check-{crc32(texts.encode()):08x}"))
