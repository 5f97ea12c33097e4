"""Derived files, and folders of them, in the user's cache: put there in one step, checked before use, dropped when old.

Other programs of the same user may build and read the same folder at the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

from npu_kb.locations import cache_directory, is_private

_MANIFEST = "manifest.json"
_UNFINISHED = (".part", ".old")
_HOUR = 3600.0
KEPT = 3
"""Of each kind. One that a program has open stays readable to it when it is removed."""


def private_folder(directory: Path | str, name: str) -> Path | None:
    """The folder `name` inside `directory`, made if need be; None unless it belongs to this user alone."""
    folder = Path(directory) / name
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder if is_private(str(folder)) else None
    except OSError:
        return None


def is_whole(path: Path) -> bool:
    """Whether the folder holds exactly what was put there."""
    try:
        manifest = json.loads((path / _MANIFEST).read_text("utf-8"))
        return bool(manifest) and all(_checksum(path / name) == value for name, value in manifest.items())
    except (OSError, ValueError, AttributeError):
        return False


def place(path: Path, fill: Callable[[Path], object]) -> None:
    """Let `fill` write a folder and put it at `path` in one step, unless a whole one is there by then."""
    scratch = Path(tempfile.mkdtemp(dir=path.parent, prefix=f"{path.name}-", suffix=".part"))
    damaged = scratch.with_suffix(".old")
    try:
        fill(scratch)
        manifest = {file.name: _checksum(file) for file in scratch.iterdir() if file.is_file()}
        (scratch / _MANIFEST).write_text(json.dumps(manifest), "utf-8")
        if path.exists() and not is_whole(path):
            with contextlib.suppress(FileNotFoundError):
                path.rename(damaged)
        if not path.exists():
            _rename_unless_there(scratch, path)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.rmtree(damaged, ignore_errors=True)


def kept(name: str, key: str, make: Callable[[], bytes]) -> bytes:
    """What `make` makes for a key, out of the user's cache if it is there; of each name the latest few are kept."""
    cache = cache_directory()
    folder = private_folder(cache, name) if cache else None
    if folder is None:
        return make()
    path = folder / hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
    with contextlib.suppress(OSError):
        if is_whole(path):
            return (path / name).read_bytes()
    data = make()
    with contextlib.suppress(OSError):  # a full disk only costs the next start some time
        place(path, lambda scratch: (scratch / name).write_bytes(data))
        drop_old(folder)
    return data


def drop_old(folder: Path) -> None:
    """Remove all but the last used files and folders in `folder`, and what killed programs left unfinished."""
    ages: list[tuple[float, Path]] = []
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            status = path.lstat()
            age = time.time() - max(status.st_mtime, status.st_atime)
            if path.suffix not in _UNFINISHED:
                ages.append((age, path))
            elif age > _HOUR:
                _remove(path)
    for _, path in sorted(ages)[KEPT:]:
        _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()


def _rename_unless_there(source: Path, target: Path) -> None:
    try:
        source.rename(target)
    except OSError:
        if not target.exists():
            raise


def _checksum(path: Path) -> int:
    return crc32(path.read_bytes())
