"""What the user has set for good: config files and environment variables.

A config file is TOML: `kb = ["/share/team-kb"]` (folders merged over the built-in knowledge, later ones win; relative
ones start at the file's folder) and `lang = "zh"` (en, zh or both).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from npu_kb import locations
from npu_kb.errors import NpuKbError

LANGUAGES = ("en", "zh", "both")
OWN = "npu-kb record"
"""What names the folder of the user's own entries."""
_NAMES = ("kb", "lang")


class Source(NamedTuple):
    """A private folder of knowledge and what names it: a config file, NPU_KB_PATH or --kb."""

    path: str
    named_by: str


def overlay_sources(given: Iterable[str] = ()) -> list[Source]:
    """The private folders of knowledge by precedence, the last wins.

    Config files, the folder into which `record` writes by itself, NPU_KB_PATH, those given by --kb.
    """
    sources = [source for file in locations.config_files() for source in _folders(file)]
    own = locations.own_kb_directory()
    sources += [Source(own, OWN)] if own and os.path.isdir(own) else []
    path = os.environ.get("NPU_KB_PATH", "")
    sources += [Source(part, "NPU_KB_PATH") for part in path.split(os.pathsep) if part]
    for folder in given:
        if not folder:
            raise NpuKbError("--kb is empty; name a folder of knowledge, or leave it out")
        sources.append(Source(folder, "--kb"))
    return sources


def preferred_language() -> str | None:
    """The language of the last config file that sets one."""
    chosen = None
    for file in locations.config_files():
        chosen = _read(file).get("lang", chosen)
    return chosen


def _folders(file: str) -> list[Source]:
    home = os.path.dirname(file)
    return [Source(os.path.join(home, os.path.expanduser(part)), file) for part in _read(file).get("kb", [])]


def _read(file: str) -> dict[str, Any]:
    """The settings of one config file; NpuKbError if one of them is wrong."""
    if not os.path.isfile(file):
        if file == os.environ.get("NPU_KB_CONFIG") and not os.path.exists(file):
            raise NpuKbError(f"NPU_KB_CONFIG: {file}: no such file; mend or unset it")
        return {}
    settings = _toml(file)
    if unknown := [name for name in settings if name not in _NAMES]:
        raise NpuKbError(f"{file}: {unknown[0]!r} is no setting; there are: {', '.join(_NAMES)}")
    kb, lang = settings.get("kb", []), settings.get("lang", "en")
    if not isinstance(kb, list) or not all(isinstance(part, str) and part for part in kb):
        raise NpuKbError(f'{file}: kb must be a list of folders, such as kb = ["/share/team-kb"]')
    if lang not in LANGUAGES:
        raise NpuKbError(f"{file}: lang is {lang!r}; it may be: {', '.join(LANGUAGES)}")
    return settings


def _toml(file: str) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        with open(file, "rb") as stream:
            settings: dict[str, Any] = tomllib.load(stream)
            return settings
    except OSError as error:
        raise NpuKbError(f"{file}: cannot be read: {error.strerror}; mend its permissions") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise NpuKbError(f"{file}: is no TOML: {error}; mend it or take it away") from None
