"""Find and run the importers: modules of importers/ with a function `main(arguments) -> exit status`."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from npu_kb import locations
from npu_kb.errors import NpuKbError


def importer_names() -> list[str]:
    """The importers that come with the program."""
    return sorted(p.stem for p in Path(locations.importers_directory()).glob("*.py") if not p.stem.startswith("_"))


def run_importer(name: str, arguments: list[str]) -> int:
    """Run one importer with its own arguments and return its exit status; NpuKbError if there is none of that name."""
    module_name = name.replace("-", "_")
    if module_name not in importer_names():
        known = ", ".join(n.replace("_", "-") for n in importer_names())
        raise NpuKbError(f"no importer is called {name!r}; there are: {known}")
    return int(_load(module_name).main(arguments))


def _load(name: str) -> ModuleType:
    path = Path(locations.importers_directory()) / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"npu_kb_importers.{name}", path)
    if spec is None or spec.loader is None:
        raise NpuKbError(f"{path}: cannot be loaded; reinstall npu-kb")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
