"""What a scan looks for: kept from one start to the next, chosen by what is common, the same with every engine."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from npu_kb import Knowledge, waiting
from npu_kb.cluster import engines
from npu_kb.cluster.anchors import anchors_of
from npu_kb.cluster.needles import Calls, Needles
from npu_kb.cluster.observation import Observation
from npu_kb.cluster.pieces import sample_of
from npu_kb.cluster.scan import scan
from npu_kb.intake.tree import log_files
from npu_kb.knowledge import cachefolder

try:
    import hyperscan
except ImportError:  # no wheel for this machine
    hyperscan = None

Write = Callable[..., Path]
COMMON = "[INFO] RUNTIME(7,python):2026-11-29-10:00:00.000.000 [stream.cc:1]7 StreamCreate: stream_id=1 created\n"


needs_hyperscan = pytest.mark.skipif(hyperscan is None, reason="hyperscan is not installed")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def small(own_cache: None, write_entry: Write, small_knowledge: Callable[[], Knowledge]) -> Knowledge:
    """Two entries, and a cache of their own."""
    write_entry("gave-up", "- text: frobnicator gave up\n  any: [StreamCreate, something else]")
    write_entry("too-hot", "- text: temperature of the quux too high")
    return small_knowledge()


def kept(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "cache" / "needles").glob("*/needles")
    return path


def test_what_is_looked_for_is_collected_once(
    tmp_path: Path, small: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Needles.load(small, ["rank_id"])
    monkeypatch.setattr(Needles, "of", lambda *_: pytest.fail("was collected again"))
    again = Needles.load(small, ["rank_id"])
    assert (again.all, again.rules, again.more) == (first.all, first.rules, first.more)
    assert again.fingerprint == first.fingerprint


@pytest.mark.parametrize("damage", [b"", b"\x00" * 100, b"i\x01"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, small: Knowledge, damage: bytes) -> None:
    first = Needles.load(small)
    whole = kept(tmp_path).read_bytes()
    kept(tmp_path).write_bytes(damage)
    assert Needles.load(small).all == first.all
    assert kept(tmp_path).read_bytes() == whole


def test_a_cache_that_others_can_write_is_left_alone(
    tmp_path: Path, small: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = Needles.load(small)
    kept(tmp_path).parents[1].chmod(0o777)
    monkeypatch.setattr(cachefolder, "is_whole", lambda _: pytest.fail("looked at a foreign file"))
    assert Needles.load(small).all == first.all


@needs_hyperscan
def test_a_database_of_anchors_is_compiled_once(own_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    first = engines.Hyperscan([b"alpha", b"beta"])
    compiled = mock.Mock(wraps=engines._compiled)
    monkeypatch.setattr(engines, "_compiled", compiled)
    again, other = engines.Hyperscan([b"alpha", b"beta"]), engines.Hyperscan([b"alpha", b"gamma"])
    assert again.hits(b"ALPHA beta gamma") == first.hits(b"ALPHA beta gamma") == [(0, 5), (1, 10)]
    assert other.hits(b"ALPHA beta gamma") == [(0, 5), (1, 16)]
    compiled.assert_called_once_with([b"alpha", b"gamma"])


@needs_hyperscan
def test_a_database_of_another_processor_is_compiled_anew(own_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    engines.Hyperscan([b"alpha"])
    monkeypatch.setattr("hyperscan.loadb", mock.Mock(side_effect=hyperscan.DatabasePlatformError))
    assert engines.Hyperscan([b"alpha"]).hits(b"an alpha") == [(0, 8)]


@pytest.mark.parametrize("lines", [1, 520, 600_000])
def test_a_fault_that_repeats_itself_is_told_however_often(tmp_path: Path, small: Knowledge, lines: int) -> None:
    (tmp_path / "logs").mkdir()
    for name, count in (("flood", lines), ("once", 1)):
        (tmp_path / "logs" / f"{name}.log").write_text("frobnicator gave up, something else\n" * count)
    rows = scan([str(tmp_path / "logs")], [str(tmp_path / "kb")], jobs=1)
    told = [row for row in rows if isinstance(row, Observation) and row.entry == "gave-up"]
    assert {Path(row.source).stem: row.count for row in told} == {"flood": lines, "once": 1}


def test_the_knowledge_is_said_to_be_prepared_on_a_terminal_where_it_takes_long(
    tmp_path: Path, small: Knowledge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "_PATIENCE", 0.0)
    (tmp_path / "a.log").write_text(COMMON)
    for is_terminal in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda told=is_terminal: told)
        monkeypatch.setattr(sys, "stderr", stream)
        list(scan([str(tmp_path / "a.log")], []))
        assert ("preparing the knowledge, once" in stream.getvalue()) == is_terminal


def test_other_literals_are_another_cache(small: Knowledge) -> None:
    assert len(Needles.load(small, ["rank_id"]).all) == len(Needles.load(small).all) + 1


def test_a_rule_is_called_by_its_rare_text_and_not_by_what_stands_everywhere(small: Knowledge) -> None:
    needles = Needles.of(small)
    number = {needle.literal: n for n, needle in enumerate(needles.all)}
    rare, common = number[b"frobnicatorgaveup"], number[b"streamcreate"]
    for passed_over in (frozenset[int](), frozenset({common})):
        calls = Calls(needles, passed_over)
        assert [rule.entry for rule in calls.rules({rare, common})] == ["gave-up"]
        assert calls.rules({common}) == []
        assert bool(calls.rules({rare})) == bool(passed_over)
    assert [rule.entry for rule in Calls(needles, frozenset({rare})).rules({common})] == ["gave-up"]


@pytest.mark.parametrize("pack", [lambda text: text, gzip.compress])
def test_what_is_common_in_the_logs_is_told_by_a_sample_also_of_packed_and_of_many_small_ones(
    tmp_path: Path, small: Knowledge, pack: Callable[[bytes], bytes]
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "a.log").write_bytes(pack(COMMON.encode() * 20_000))
    sample, total = sample_of(log_files([str(logs)]))
    assert total == (logs / "a.log").stat().st_size
    assert anchors_of(Needles.of(small), sample, 1 << 30).passed_over
    (logs / "a.log").unlink()
    for number in range(400):
        (logs / f"{number}.log").write_bytes(pack(COMMON.encode()))
    assert anchors_of(Needles.of(small), sample_of(log_files([str(logs)]))[0], 1 << 30).passed_over


def test_engines_tell_the_same(
    tmp_path: Path, knowledge: Knowledge, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("hyperscan")
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    hits = [hit for entry in knowledge.entries() for hit in entry["samples"]["hit"]]
    for rank in range(4):
        lines = [line for hit in hits[rank::4] for line in (COMMON * 3 + hit + "\n", hit.upper() + "\n")]
        (tmp_path / f"rank_{rank}.log").write_text("".join(lines))
    one, other = (list(scan([str(tmp_path)], [], engine=engine)) for engine in ("hyperscan", "ahocorasick"))
    assert one == other
    assert len(one) > 500
