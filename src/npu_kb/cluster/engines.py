"""Find all anchors in a chunk of a log, in one pass, whatever the case of its ASCII letters."""

from __future__ import annotations

import platform
from typing import Any, Protocol

from npu_kb.errors import NpuKbError
from npu_kb.knowledge import cachefolder

ENGINES = ("auto", "hyperscan", "ahocorasick")


Hit = tuple[int, int]
"""The number of an anchor, and the offset behind a place where it stands."""


class Engine(Protocol):
    """Finds anchors, which are lower-case bytes."""

    name: str

    def hits(self, chunk: bytes) -> list[Hit]:
        """All places of all anchors, overlapping ones too, in the order of their ends."""


class AhoCorasick:
    """An automaton (ahocorasick_rs): a dense one, or one that is built sooner and smaller, but reads half as fast."""

    name = "ahocorasick"

    def __init__(self, anchors: list[bytes], dense: bool = True) -> None:
        from ahocorasick_rs import BytesAhoCorasick, Implementation

        implementation = Implementation.DFA if dense else Implementation.ContiguousNFA
        self._automaton = BytesAhoCorasick(anchors, implementation=implementation)

    def hits(self, chunk: bytes) -> list[Hit]:
        return [(hit[0], hit[2]) for hit in self._automaton.find_matches_as_indexes(chunk.lower(), overlapping=True)]


class Hyperscan:
    """Vector instructions (hyperscan; on aarch64 its wheel holds Vectorscan): two to three times as fast.

    There are wheels for Linux on x86-64 and aarch64; elsewhere AhoCorasick reads.
    """

    name = "hyperscan"

    def __init__(self, anchors: list[bytes]) -> None:
        import hyperscan

        key = repr((getattr(hyperscan, "__version__", ""), platform.machine(), anchors))
        data = cachefolder.kept("hyperscan", key, lambda: hyperscan.dumpb(_compiled(anchors)))
        try:
            self._database = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
        except hyperscan.HyperscanError:  # a home shared by hosts: made for another processor
            self._database = _compiled(anchors)
        self._scratch = hyperscan.Scratch(self._database)

    def hits(self, chunk: bytes) -> list[Hit]:
        found: list[Hit] = []

        def keep(anchor: int, start: int, end: int, flags: int, context: object) -> None:
            found.append((anchor, end))

        self._database.scan(chunk, match_event_handler=keep, scratch=self._scratch)
        return found


def _compiled(anchors: list[bytes]) -> Any:
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    numbers, flags = list(range(len(anchors))), hyperscan.HS_FLAG_CASELESS
    database.compile(expressions=anchors, ids=numbers, elements=len(anchors), flags=flags, literal=True)
    return database


def engine_of(name: str, anchors: list[bytes]) -> Engine:
    """The engine of this name (`auto`: the fastest one installed); NpuKbError if it is not installed."""
    if name in ("auto", "hyperscan"):
        try:
            return Hyperscan(anchors)
        except ImportError:
            if name == "hyperscan":
                mend = "pip install 'npu-kb[fast]', or leave --engine out"
                raise NpuKbError(f"the engine hyperscan is not installed; {mend}") from None
    return AhoCorasick(anchors)
