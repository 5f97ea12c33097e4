"""A tar.gz that is written member by member and takes its name only when it is whole."""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from npu_kb.errors import NpuKbError
from npu_kb.files import replacing

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
            with ExitStack() as stack:
                file = stack.enter_context(replacing(self.path, 0o600, new=True))
                tar = tarfile.open(fileobj=file, mode="w:gz", compresslevel=6, format=tarfile.PAX_FORMAT)
                self._tar = stack.enter_context(tar)
                self._stack = stack.pop_all()
        except OSError as error:
            raise self._failure(error) from None
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
            self._stack.__exit__(kind, error, trace)
        except OSError as failure:
            raise self._failure(failure) from None

    def _failure(self, error: OSError) -> NpuKbError:
        why = error.strerror or "exists already"
        return NpuKbError(f"{self.path}: cannot be written: {why}; make room or give another --out")


def checksum(data: bytes) -> str:
    """The SHA-256 of a member, as `sha256sum` prints it."""
    return hashlib.sha256(data).hexdigest()
