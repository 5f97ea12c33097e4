"""Files: written as a whole, so that nobody ever reads half of one; and where links lead."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from npu_kb.errors import NpuKbError

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
"""What a file system says that knows no links, such as that of a USB stick or of some network shares."""
_PART = re.compile(r"\.npu-kb-[0-9a-f]{16}\.part")
_ABANDONED_SECONDS = 3600
_MEND = "make room, mend its permissions, or give another name"


def write_file(
    path: Path, content: str | bytes, mode: int = 0o644, *, new: bool = False, synced: bool = True, mend: str = _MEND
) -> None:
    """`put`, with the folders that the file stands in; NpuKbError names the file, and says how to mend it."""
    try:
        _make_folder(path.parent)
        put(path, content, mode, new=new, synced=synced)
    except FileExistsError:
        raise NpuKbError(f"{path}: exists already and is never overwritten; give another name") from None
    except OSError as error:
        raise NpuKbError(f"{path}: cannot be written: {error.strerror}; {mend}") from None


def put(path: Path, content: str | bytes, mode: int = 0o644, *, new: bool = False, synced: bool = True) -> None:
    """Give a file this content in one step, a text in UTF-8; its permissions are `mode` less the umask.

    A file of that name is replaced, behind a link the one it leads to; with `new` it is a FileExistsError. What is no
    regular file (a device, a pipe, a folder) is left alone. What can be made again need not be `synced`: it is written
    faster then, but a crash of the machine may take it. OSError where it cannot be written.
    """
    with replacing(path, mode, new=new, synced=synced) as file:
        file.write(content.encode("utf-8", "replace") if isinstance(content, str) else content)


@contextmanager
def replacing(path: Path, mode: int = 0o644, *, new: bool = False, synced: bool = True) -> Iterator[BinaryIO]:
    """As `put`, for what is written piece by piece: the file is there once the block has ended well, else nothing."""
    target = path if new else real(path)
    if not new and target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is no regular file")
    _sweep(target.parent)
    part = target.with_name(f".npu-kb-{secrets.token_hex(8)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as file:
            yield file
            file.flush()
            if synced:
                os.fsync(file.fileno())
        if new:
            _name(part, target)
        else:
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _sweep(folder: Path) -> None:
    """Remove what writers of this user that were killed long ago left in a folder."""
    with suppress(OSError), os.scandir(folder) as found:
        for row in found:
            if _PART.fullmatch(row.name):
                status = row.stat(follow_symlinks=False)
                is_ours = stat.S_ISREG(status.st_mode) and status.st_uid == os.getuid()
                if is_ours and status.st_mtime < time.time() - _ABANDONED_SECONDS:
                    Path(row.path).unlink()


def real(path: Path) -> Path:
    """The absolute path to which links lead; where they lead round in a circle, one that is there for nobody."""
    return Path(os.path.realpath(path))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is no folder") from None


def _name(part: Path, path: Path) -> None:
    """Give a finished file its name; FileExistsError if there is one of that name."""
    try:
        os.link(part, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        part.replace(path)
