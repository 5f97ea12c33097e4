"""Scans by the workers of a Dask cluster: the same rows, also when a worker is killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from npu_kb.cluster.dask import workers_of
from npu_kb.cluster.scan import scan
from npu_kb.errors import NpuKbError

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # of dask and tornado while a worker dies


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> str:
    """A folder of many small logs, which are several batches of work."""
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    for rank in range(1_600):
        text = f"2025-10-24 03:00:00,000 [rank{rank}]: RuntimeError: HBM MULTI BIT ECC ERROR. The process exits\n"
        (tmp_path / f"rank_{rank}.log").write_text(text)
    return str(tmp_path)


def test_a_killed_worker_changes_nothing(logs: str) -> None:
    here = list(scan([logs], [], jobs=1))
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, workers_of(cluster.scheduler_address) as (pool, jobs):
        rows = scan([logs], [], pool=pool, jobs=jobs)
        there = [next(rows)]
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        there += rows
    assert jobs == 2
    assert there == here


def test_without_a_scheduler_the_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npu_kb.cluster.dask._PATIENCE", "1s")
    with pytest.raises(NpuKbError, match="no Dask scheduler answers"), workers_of("tcp://127.0.0.1:1"):
        pass
