"""Marks of addresses that tell whether two snapshots of one machine hold the same one, and not which.

An address is mixed with the identity of its machine (/etc/machine-id), which never stands in a snapshot, and cut to
16 bits: who has the snapshot only cannot try out which address it was.
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import blake2b

from npu_kb.environment.root import Root

_MACHINE_ID = "/etc/machine-id"
_PLAIN = re.compile(r"<ip(6?)>")
_PSEUDONYM = re.compile(r"<ip(6?)-[0-9a-f]{4}>")
_KEY_NAME = b"npu-kb snapshot"


def key_of(root: Root) -> bytes:
    """What the addresses of a machine are mixed with; empty where it has no identity, as most containers."""
    with suppress(OSError):
        identity = root.read(_MACHINE_ID).strip()
        if re.fullmatch(rb"[0-9a-f]{32}", identity):
            return identity
    return b""


def name_of(key: bytes) -> str | None:
    """A name that says of two snapshots whether their addresses can be compared; None without a key."""
    return _hash(_KEY_NAME, key, 8) if key else None


def with_pseudonyms(redacted: str, plain: str, key: bytes) -> str:
    """A redacted text with marks in place of <ip> that are the same wherever the whole text was."""
    if not key:
        return redacted
    return _PLAIN.sub(rf"<ip\1-{_hash(plain.encode('utf-8', 'surrogatepass'), key, 2)}>", redacted)


def without_pseudonyms(text: str) -> str:
    """The text with <ip> in place of all such marks."""
    return _PSEUDONYM.sub(r"<ip\1>", text)


def _hash(data: bytes, key: bytes, size: int) -> str:
    return blake2b(data, key=key, digest_size=size).hexdigest()
