"""Every path that the program owns, one function each; nothing here creates anything."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).parent
_CHECKOUT = _PACKAGE.parents[1]


def builtin_kb_directory() -> Path:
    """The knowledge that comes with the program: inside the wheel, or the checkout's kb/."""
    packaged = _PACKAGE / "kb"
    return packaged if packaged.is_dir() else _CHECKOUT / "kb"


def packaged_database() -> Path | None:
    """The built-in knowledge as compiled into the wheel, or None in a checkout."""
    database = _PACKAGE / "knowledge.db"
    return database if database.is_file() else None


def importers_directory() -> Path:
    """The importers that come with the program: inside the wheel, or the checkout's importers/."""
    packaged = _PACKAGE / "importers"
    return packaged if packaged.is_dir() else _CHECKOUT / "importers"


def overlay_directories() -> list[Path]:
    """Private knowledge folders named by NPU_KB_PATH, separated as in PATH; later ones win."""
    return [Path(part) for part in os.environ.get("NPU_KB_PATH", "").split(os.pathsep) if part]


def cache_directory() -> Path | None:
    """Where compiled knowledge may be kept: NPU_KB_CACHE, XDG_CACHE_HOME/npu-kb or ~/.cache/npu-kb; None without a home."""
    if own := os.environ.get("NPU_KB_CACHE"):
        return Path(own)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "npu-kb"
    try:
        return Path.home() / ".cache" / "npu-kb"
    except RuntimeError:
        return None
