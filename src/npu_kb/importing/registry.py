"""Find, list and run the importers."""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb import locations
from npu_kb.errors import NpuKbError
from npu_kb.intake.clean import printable

GROUP = "npu_kb.importers"
_BROKEN = (Exception, SystemExit)
"""What the code of another package may raise at us."""


class Importer(NamedTuple):
    """An importer, and what it reads in one line."""

    name: str
    summary: str


def importers() -> tuple[list[Importer], list[str]]:
    """All importers by name, and what is wrong with those of other packages that cannot be used."""
    found, faults = [_built_in(path) for path in _modules()], []
    names = {importer.name for importer in found}
    for point in entry_points(group=GROUP):
        try:
            if point.name in names:
                raise NpuKbError(f"{_told(point)} has the name of another one; rename it")
            found.append(_plug_in(point))
            names.add(point.name)
        except NpuKbError as error:
            faults.append(str(error))
    return sorted(found), faults


def run_importer(name: str, arguments: list[str]) -> int:
    """Run one importer with its own arguments and return its exit status; NpuKbError if there is none of that name."""
    for path in _modules():
        if _name(path) == name.replace("_", "-"):
            return int(_load_module(path).main(arguments))
    for point in entry_points(group=GROUP):
        if point.name == name:
            return _run_plug_in(point, arguments)
    known = ", ".join(importer.name for importer in importers()[0])
    raise NpuKbError(f"no importer is called {name!r}; there are: {known}")


def _modules() -> Iterator[Path]:
    """The modules of importers/."""
    folder = Path(locations.importers_directory())
    return (path for path in sorted(folder.glob("*.py")) if not path.name.startswith("_"))


def _name(path: Path) -> str:
    return path.stem.replace("_", "-")


def _built_in(path: Path) -> Importer:
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return Importer(_name(path), _first_line(docstring))


def _load_module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"npu_kb_importers.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise NpuKbError(f"{path}: cannot be loaded; reinstall npu-kb")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _plug_in(point: EntryPoint) -> Importer:
    loaded = _load_plug_in(point)
    return Importer(point.name, _first_line(getattr(loaded, "__doc__", None) or ""))


def _load_plug_in(point: EntryPoint) -> Any:
    try:
        loaded = point.load()
    except _BROKEN as error:
        raise NpuKbError(f"{_told(point)} cannot be loaded: {_said(error)}; mend or remove the package") from None
    if not callable(getattr(loaded, "main", None)):
        raise NpuKbError(f"{_told(point)} has no function `main(arguments)`; mend or remove the package")
    return loaded


def _run_plug_in(point: EntryPoint, arguments: list[str]) -> int:
    loaded = _load_plug_in(point)
    try:
        return int(loaded.main(arguments))
    except (NpuKbError, OSError):
        raise
    except Exception as error:
        raise NpuKbError(f"{_told(point)} failed: {_said(error)}; tell whoever wrote it") from None


def _told(point: EntryPoint) -> str:
    package = point.dist.name if point.dist else "an unknown package"
    return f"importer {point.name!r} of {package}"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _first_line(docstring: str) -> str:
    return printable((docstring.strip().splitlines() or [""])[0])
