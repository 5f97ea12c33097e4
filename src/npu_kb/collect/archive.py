"""A tar.gz that is written member by member and takes its name only when it is whole."""

from __future__ import annotations

import hashlib
import io
import os
import re
import tarfile
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from npu_kb.errors import NpuKbError

_UNSAFE = re.compile(r"[^\w.+=@-]")


class Archive:
    """A context: what is added inside is the archive once the block has ended well; else nothing is left of it.

    NpuKbError where it cannot be written, or something of its name is there already.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folder = f"{path.name.partition('.')[0]}/"
        self._names: set[str] = set()

    def __enter__(self) -> Archive:
        if self.path.exists() or self.path.is_symlink():
            raise NpuKbError(f"{self.path}: exists already and is never overwritten; give another --out")
        try:
            handle, self._part = tempfile.mkstemp(dir=self.path.parent, prefix=f".{self.path.name}-", suffix=".part")
        except OSError as error:
            raise self._failure(error) from None
        self._file = os.fdopen(handle, "wb")
        self._tar = tarfile.open(fileobj=self._file, mode="w:gz", compresslevel=6, format=tarfile.PAX_FORMAT)
        return self

    def add(self, name: str, data: bytes, changed: float | None = None) -> str:
        """Add a member under a name without anything odd in it; returns the name."""
        plain = "/".join(_UNSAFE.sub("_", part).lstrip(".") or "_" for part in name.split("/") if part)
        while plain in self._names:
            plain += "_"
        self._names.add(plain)
        member = tarfile.TarInfo(self._folder + plain)
        member.size, member.mtime = len(data), max(0, int(time.time() if changed is None else changed))
        try:
            self._tar.addfile(member, io.BytesIO(data))
        except OSError as error:
            raise self._failure(error) from None
        return plain

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._finish()
        except OSError as failure:
            raise self._failure(failure) from None
        finally:
            with suppress(OSError):
                self._file.close()
            Path(self._part).unlink(missing_ok=True)

    def _finish(self) -> None:
        self._tar.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        try:
            os.link(self._part, self.path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links, such as a USB stick's
            Path(self._part).rename(self.path)

    def _failure(self, error: OSError) -> NpuKbError:
        return NpuKbError(f"{self.path}: cannot be written: {error.strerror}; make room or give another --out")


def checksum(data: bytes) -> str:
    """The SHA-256 of a member, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()
