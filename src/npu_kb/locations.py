"""Every path that the program owns, one function each; nothing here creates anything.

Paths are strings: importing pathlib would take a tenth of the time in which `why` answers.
"""

from __future__ import annotations

import os
import stat

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


def own_kb_directory() -> str | None:
    """Where the user's own entries go unless another folder is named: XDG_DATA_HOME/npu-kb/kb, or in the home."""
    base = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(base, "npu-kb", "kb") if os.path.isabs(base) else None


def cache_directory() -> str | None:
    """Where compiled knowledge may be kept: NPU_KB_CACHE, XDG_CACHE_HOME/npu-kb or ~/.cache/npu-kb; None: no home."""
    if own := os.environ.get("NPU_KB_CACHE"):
        return own
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return os.path.join(shared, "npu-kb")
    home = os.path.expanduser("~")
    return os.path.join(home, ".cache", "npu-kb") if os.path.isabs(home) else None


def store_file() -> str | None:
    """The store of diagnoses and findings: NPU_KB_STORE, XDG_STATE_HOME/npu-kb/store.db or the same in ~/.local/state.

    None where NPU_KB_STORE is `off` or there is no home.
    """
    if own := os.environ.get("NPU_KB_STORE"):
        return None if own == "off" else own
    folder = _state_directory()
    return os.path.join(folder, "store.db") if folder else None


def tui_state_file() -> str | None:
    """Where the TUI remembers its place: tui.json in XDG_STATE_HOME/npu-kb or ~/.local/state/npu-kb; None: no home."""
    folder = _state_directory()
    return os.path.join(folder, "tui.json") if folder else None


def _state_directory() -> str | None:
    home = os.path.expanduser("~")
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    return os.path.join(state, "npu-kb") if os.path.isabs(state) else None


def is_private(folder: str) -> bool:
    """Whether this is a real folder of this user that nobody else can write."""
    status = os.lstat(folder)
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o022
