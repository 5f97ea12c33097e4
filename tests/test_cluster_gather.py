"""Rows of very many logs: what nothing tells apart is told together, and the story stays the same."""

from __future__ import annotations

import random

import pytest

from npu_kb import Knowledge
from npu_kb.cluster import gather
from npu_kb.cluster.observation import Clue, Observation, Row, SourceSummary
from npu_kb.cluster.timeline import story_of
from npu_kb.render.cluster_document import cluster_document

FAULT, WAIT, BENIGN = "hbm-multi-bit-ecc-in-use", "hccl-notify-wait-timeout", "benign"


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five rows are very many here."""
    monkeypatch.setattr(gather, "_MOST", 5)


def seen(source: str, time: float, entry: str = FAULT, verdict: str = "certain") -> Observation:
    return Observation(source, 7, 0, time, entry, verdict, "x", {}, 2, 9, time + 1)


def read(source: str, time: float = 1e9, skipped: str = "") -> SourceSummary:
    return SourceSummary(source, 100, 10, time, time + 60, 1, skipped)


def together(rows: list[Row]) -> list[Row]:
    return gather.gathered(rows, lambda entry: entry == BENIGN)


def of_kind(kind: type, rows: list[Row]) -> list[Row]:
    return [row for row in rows if isinstance(row, kind)]


def test_logs_of_one_folder_that_are_named_alike_become_one() -> None:
    rows = [row for n in range(50) for row in (seen(f"n1/app-{n}.log", 1e9 - n), read(f"n1/app-{n}.log", 1e9 + n))]
    (first,) = of_kind(Observation, together(rows))
    (summary,) = of_kind(SourceSummary, together(rows))
    assert first == seen("n1/app-49.log", 1e9 - 49)
    assert summary == SourceSummary("n1/app-0.log", 5_000, 500, 1e9, 1e9 + 109, 50, "", 50)


def test_those_that_say_whose_they_are_stay_apart() -> None:
    rows: list[Row] = []
    for rank in range(10):
        source = f"logs/train-{rank}.log"
        member = Clue(source, 1, 1e9, "member", {"rank": str(rank), "world": "10"}, "RANK_ID")
        rows += [seen(source, 1e9 + rank), member, read(source)]
        rows += [seen(f"n1/rank_{rank}.log", 1e9), read(f"n1/plog-{rank}_20251024111652406.log")]
    assert len(of_kind(Observation, together(rows))) == 20
    assert len(of_kind(SourceSummary, together(rows))) == 20
    assert len(of_kind(Clue, together(rows))) == 10


def test_each_log_that_is_still_named_is_said_whose_it_is() -> None:
    rows: list[Row] = []
    for n in range(10):
        source = f"n1/app-{n}.log"
        stamp = Clue(source, 1, 1e9, "stamp", {"zone": "28800", "year": "named"}, "")
        rows += [seen(source, 1e9 - n, FAULT), seen(source, 1e9 + n, WAIT), stamp, read(source)]
    left = together(rows)
    assert {row.source for row in left} == {"n1/app-0.log", "n1/app-9.log"}
    assert sorted(row.source for row in of_kind(Clue, left)) == ["n1/app-0.log", "n1/app-9.log"]


def test_a_scan_that_comes_twice_or_in_another_order_counts_once() -> None:
    scans: list[list[Row]] = [
        [row for n in range(9) for row in (seen(f"{host}/app-{n}.log", 1e9 + n), read(f"{host}/app-{n}.log"))]
        for host in ("node1", "node2", "node3")
    ]
    once = together([row for scan in scans for row in scan])
    random.Random(1).shuffle(scans)
    assert together([row for scan in [*scans, *scans] for row in scan]) == once


def test_what_was_not_read_is_counted_by_its_reason(knowledge: Knowledge) -> None:
    rows: list[Row] = [read(f"n1/core-{n}", skipped="binary" if n % 2 else "vanished") for n in range(40)]
    sources = cluster_document(story_of([*rows, read("n1/app.log")], knowledge), knowledge)["sources"]
    assert sources["read"] == 1
    assert sources["skipped"] == [
        {"source": "n1/core-0", "why": "vanished", "logs": 20},
        {"source": "n1/core-1", "why": "binary", "logs": 20},
    ]


def test_of_too_many_faults_the_first_are_kept_and_benign_ones_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "_MOST_OF_A_GROUP", 2)
    rows: list[Row] = []
    for rank in range(20):
        source = f"n1/rank_{rank}.log"
        rows += [seen(source, 1e9, BENIGN), seen(source, 1e9 + 1, "a", "possible")]
        rows += [seen(source, 1e9 + 9 - n, f"fault-{n}") for n in range(6)]
    left = of_kind(Observation, together(rows))
    assert {row.source for row in left} == {f"n1/rank_{rank}.log" for rank in range(20)}
    assert {row.entry for row in left} <= {f"fault-{n}" for n in range(6)}
    assert all({"fault-4", "fault-5"} <= {r.entry for r in left if r.source == f"n1/rank_{k}.log"} for k in range(20))


def test_the_story_is_the_same(knowledge: Knowledge, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[Row] = []
    for rank in range(8):
        for part in range(5):
            source = f"node{rank // 4}/rank_{rank}/part-{part}.log"
            entry = FAULT if rank == 3 else WAIT
            rows += [seen(source, 1.7e9 + (0 if rank == 3 else 600) + part, entry), read(source, 1.7e9)]
    folded = story_of(rows, knowledge)
    monkeypatch.setattr(gather, "_MOST", 50_000)
    whole = story_of(rows, knowledge)
    assert len(folded.events) == 8 and len(whole.events) == 40
    assert [(fault.entry, fault.parties, fault.time) for fault in folded.faults] == [
        (fault.entry, fault.parties, fault.time) for fault in whole.faults
    ]


@pytest.mark.parametrize("most", [200, 40, 4])
def test_however_many_logs_there_are_few_rows_are_kept_and_the_first_fault_is_among_them(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First fewer of each rank, then the ranks of a host together, then all of them."""
    monkeypatch.setattr(gather, "_MOST_TOGETHER", most)
    scans: list[list[Row]] = [
        [seen(f"node{n % 9}/rank_{n}.log", 1e9 + (n - 50) ** 2, f"fault-{k}") for k in range(5)]
        + [read(f"node{n % 9}/rank_{n}.log")]
        for n in range(100)
    ]
    left = together([row for scan in scans for row in scan])
    assert len(left) <= max(most, 12)
    assert min(row.time or 0 for row in of_kind(Observation, left) if isinstance(row, Observation)) == 1e9
    assert sum(row.logs for row in left if isinstance(row, SourceSummary)) == 100
