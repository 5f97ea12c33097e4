"""The CANN installations of a machine: old and new paths, their files, and which one the environment loads."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from npu_kb.environment.root import Root

_BASES = ("/usr/local/Ascend", "{home}/Ascend")
_LOADED_BY = ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")
_ARCHES = ("aarch64-linux/", "x86_64-linux/", "")
_FILES = (
    "ascend_toolkit_install.info",
    "ascend_nnae_install.info",
    "ascend_nnrt_install.info",
    "ascend_ops_install.info",
)
_PART_FILES = ("version.cfg", "toolkit/version.info", "opp_kernel/version.info", "share/info/toolkit/version.info")
_MOST_INSTALLS = 20


def loaded(root: Root, settings: Mapping[str, str]) -> str | None:
    """The CANN that set_env.sh put into the environment."""
    path = next((settings[name] for name in _LOADED_BY if settings.get(name)), None)
    return root.resolve(path) if path else None


def installs(root: Root, settings: Mapping[str, str]) -> list[str]:
    """The folders of all installed CANNs, links followed: the loaded one first, then the one that links lead to."""
    folders = [loaded(root, settings), *(root.resolve(path) for path in _candidates(root, settings))]
    found = [folder for folder in dict.fromkeys(folders) if folder and files_of(root, folder)]
    return found[:_MOST_INSTALLS]


def _candidates(root: Root, settings: Mapping[str, str]) -> Iterator[str]:
    """Linked ones (`latest`, `cann`) before the others, so that what is in use comes first."""
    bases = [base.format(home=settings.get("HOME", "/root")) for base in _BASES]
    for base in bases:
        yield from (
            posixpath.join(base, name) for name in ("cann", "ascend-toolkit/latest", "nnae/latest", "nnrt/latest")
        )
    for base in bases:
        yield from (posixpath.join(base, name) for name in root.names(base) if name.startswith("cann-"))
        for kind in ("ascend-toolkit", "nnae", "nnrt"):
            yield from (
                posixpath.join(base, kind, name) for name in root.names(posixpath.join(base, kind)) if name[0].isdigit()
            )


def files_of(root: Root, folder: str) -> list[str]:
    """The files of an installation that say versions."""
    named = [f"{arch}{name}" for name in _FILES for arch in _ARCHES]
    paths = (posixpath.join(folder, name) for name in [*named, *_PART_FILES])
    return [path for path in paths if root.exists(path)]


def all_loaded(root: Root, settings: Mapping[str, str], folders: list[str]) -> list[str]:
    """Those of the installations that the environment loads: by set_env.sh, or by libraries on LD_LIBRARY_PATH."""
    paths = [root.resolve(path) for path in settings.get("LD_LIBRARY_PATH", "").split(":") if path]
    paths += [folder] if (folder := loaded(root, settings)) else []
    return [folder for folder in folders if any(path == folder or path.startswith(folder + "/") for path in paths)]
