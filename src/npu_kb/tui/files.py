"""Small files of this user alone, each written in one step."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_private(path: Path, text: str) -> bool:
    """Put a text into a file that only this user can read; False where that is not possible."""
    part = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".part")
        part = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        part.replace(path)
    except OSError:
        if part:
            part.unlink(missing_ok=True)
        return False
    return True
