"""Files of a machine below a root folder: `/`, a chroot, or a folder that stands for a machine in a test."""

from __future__ import annotations

import os
import posixpath

_MOST_BYTES = 200_000
_MOST_LINKS = 40


class Root:
    """Reads below one folder; links, absolute ones too, never lead out of it."""

    def __init__(self, folder: str = "/") -> None:
        self.folder = folder

    def resolve(self, path: str) -> str:
        """The path inside the root to which a path leads when all its links are followed."""
        rest, done, links = path.strip("/").split("/"), "/", 0
        while rest:
            name = rest.pop(0)
            if name in ("", ".", ".."):
                done = posixpath.dirname(done) if name == ".." else done
                continue
            step = posixpath.join(done, name)
            if links < _MOST_LINKS and os.path.islink(self.outside(step)):
                target = os.readlink(self.outside(step))
                links += 1
                done = "/" if target.startswith("/") else done
                rest = target.strip("/").split("/") + rest
            else:
                done = step
        return done

    def outside(self, resolved: str) -> str:
        """Where a resolved path stands on this machine."""
        return posixpath.join(self.folder, resolved.lstrip("/"))

    def read(self, path: str) -> bytes:
        """The beginning of a file; OSError if it cannot be read. It never waits for a pipe or device."""
        handle = os.open(self.outside(self.resolve(path)), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            return file.read(_MOST_BYTES) or b""

    def names(self, path: str) -> list[str]:
        """The names in a folder, sorted; none where it cannot be listed."""
        try:
            return sorted(os.listdir(self.outside(self.resolve(path))))
        except OSError:
            return []

    def exists(self, path: str) -> bool:
        """Whether there is a file or folder."""
        return os.path.exists(self.outside(self.resolve(path)))

    def status(self, path: str) -> os.stat_result:
        """Mode and owner; OSError if there is no such file."""
        return os.stat(self.outside(self.resolve(path)))

    def may(self, path: str, mode: int) -> bool:
        """Whether this user may access it so (os.R_OK, os.W_OK)."""
        return os.access(self.outside(self.resolve(path)), mode)
