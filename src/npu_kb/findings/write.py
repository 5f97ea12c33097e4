"""A finished entry as a YAML file: its text, its place in a kb folder, and what the gates say of it."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any, get_args

import yaml

from npu_kb import locations, settings
from npu_kb.errors import NpuKbError
from npu_kb.files import write_file
from npu_kb.intake.clean import printable
from npu_kb.knowledge.entry import Entry, Fix, Layer
from npu_kb.knowledge.slug import SLUG
from npu_kb.knowledge.walk import walk

_ID = re.compile(SLUG)
_FOLDED_CHARS = 100
_WIDTH = 120
_GIT_SECONDS = 5


class _Dumper(yaml.SafeDumper):
    """Lists indented below their key; long texts folded, those of several lines as they are."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else ">" if len(text) > _FOLDED_CHARS else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def entry_yaml(entry: dict[str, Any]) -> str:
    """The text of an entry's file, its fields in the order of the model."""
    fixes = {"fix": [_in_order(fix, [*Fix.model_fields]) for fix in entry["fix"]]} if "fix" in entry else {}
    ordered = _in_order(entry | fixes, [*Entry.model_fields])
    return yaml.dump(ordered, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)


def _in_order(fields: dict[str, Any], order: list[str]) -> dict[str, Any]:
    return {name: fields[name] for name in order if name in fields}


def chosen_kb(given: str | None) -> Path:
    """The kb folder for new entries: the given one, NPU_KB_PATH's first, the settings' first, the checkout's.

    Without any of them the user's own, which is made.
    """
    named = (source for source in settings.overlay_sources() if source.named_by != settings.OWN)
    overlays = sorted(named, key=lambda source: source.named_by != "NPU_KB_PATH")
    folder = given or next((source.path for source in overlays), None) or _checkout_kb()
    kb = Path(folder) if folder else _own_kb()
    if not kb.is_dir():
        raise NpuKbError(f"{kb}: no such folder; make it, or name another kb folder")
    if not os.access(kb, os.W_OK):
        raise NpuKbError(f"{kb}: cannot be written; mend its permissions, or give --kb DIR")
    return kb


def _own_kb() -> Path:
    folder = locations.own_kb_directory()
    if folder is None:
        raise NpuKbError("no kb folder for the entry: give --kb DIR, or set NPU_KB_PATH")
    try:
        (Path(folder) / "entries").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NpuKbError(f"{folder}: cannot be made: {error.strerror}; give --kb DIR") from None
    return Path(folder)


def is_read(kb: Path) -> bool:
    """Whether `why` reads this kb folder without being told."""
    return kb.resolve() in {folder.resolve() for folder in companions(None)}


def companions(kb: Path | None) -> list[Path]:
    """The kb folders that an entry must get on with: the built-in one, the user's own, and the one it goes to."""
    overlays = [source.path for source in settings.overlay_sources() if Path(source.path).is_dir()]
    named = [locations.builtin_kb_directory(), *overlays, *([str(kb)] if kb else [])]
    return list({Path(folder).resolve(): Path(folder) for folder in named}.values())


def _checkout_kb() -> str | None:
    """The kb/ of the checkout that holds the working directory."""
    here = Path.cwd()
    found = (folder / "kb" for folder in (here, *here.parents))
    return next((str(kb) for kb in found if (kb / "entries").is_dir() and (kb / "topics.yaml").is_file()), None)


def entry_path(kb: Path | None, text: str) -> Path:
    """Where an entry of this text goes: below entries/, but directly into a folder whose entries stand without it.

    A layer or id that cannot be is none of the path. Without a folder the path is a relative one.
    """
    try:
        entry = yaml.safe_load(text)
    except yaml.YAMLError:
        entry = None
    layer, id = (str(entry.get(name)) if isinstance(entry, dict) else "" for name in ("layer", "id"))
    root = kb or Path()
    is_flat = kb is not None and not (kb / "entries").is_dir() and bool(walk(str(kb)).files)
    folder = (root if is_flat else root / "entries") / (layer if layer in get_args(Layer) else "")
    return folder / (f"{id}.yaml" if _ID.fullmatch(id) else "entry.yaml")


def place(text: str, path: Path) -> None:
    """Write a new file in one step; NpuKbError if there is one, or it cannot be written."""
    write_file(path, text, new=True)


def author_of(kb: Path) -> str | None:
    """The name that git commits with in this folder; None if it is in no repository, or git knows none."""
    return (_git(kb, "config", "--get", "user.name") or None) if repository_of(kb) else None


def repository_of(kb: Path) -> Path | None:
    """The top folder of the git repository that holds a kb folder."""
    top = _git(kb, "rev-parse", "--show-toplevel")
    return Path(top) if top else None


def _git(folder: Path, *arguments: str) -> str:
    """What git prints in a folder, on one line; nothing where it fails or is not installed."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return printable(done.stdout.strip()) if done.returncode == 0 else ""
