"""Small files of this user alone."""

from __future__ import annotations

from pathlib import Path

from npu_kb.files import put


def write_private(path: Path, text: str) -> bool:
    """Put a text into a file that only this user can read; False where that is not possible."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        put(path, text, 0o600, synced=False)
    except OSError:
        return False
    return True
