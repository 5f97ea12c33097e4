"""Every path that the program owns, one function each; nothing here creates anything.

Paths are strings: importing pathlib would take a tenth of the time in which `why` answers.
"""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(os.path.dirname(_PACKAGE))


def _packaged_or_checkout(name: str) -> str:
    packaged = os.path.join(_PACKAGE, name)
    return packaged if os.path.isdir(packaged) else os.path.join(_CHECKOUT, name)


def builtin_kb_directory() -> str:
    """The knowledge that comes with the program: inside the wheel, or the checkout's kb/."""
    return _packaged_or_checkout("kb")


def importers_directory() -> str:
    """The importers that come with the program: inside the wheel, or the checkout's importers/."""
    return _packaged_or_checkout("importers")


def packaged_database() -> str | None:
    """The built-in knowledge as compiled into the wheel, or None in a checkout."""
    database = os.path.join(_PACKAGE, "knowledge.db")
    return database if os.path.isfile(database) else None


def config_files() -> list[str]:
    """The files of settings, the later ones win: NPU_KB_CONFIG alone, or the machine's and the user's own."""
    if own := os.environ.get("NPU_KB_CONFIG"):
        return [own]
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return ["/etc/npu-kb/config.toml", os.path.join(base, "npu-kb", "config.toml")]


def cache_directory() -> str | None:
    """Where compiled knowledge may be kept: NPU_KB_CACHE, XDG_CACHE_HOME/npu-kb or ~/.cache/npu-kb; None: no home."""
    if own := os.environ.get("NPU_KB_CACHE"):
        return own
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(shared, "npu-kb")
    home = os.path.expanduser("~")
    return os.path.join(home, ".cache", "npu-kb") if os.path.isabs(home) else None
