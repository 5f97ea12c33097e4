"""Whose the lines are of consoles in which several ranks write: launchers' prefixes and labels."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npu_kb.cluster import pieces
from npu_kb.cluster.names import is_cluster

Run = Callable[..., tuple[int, str, str]]
FULL = "OSError: [Errno 28] No space left on device"
RANKS = range(12)


def said(rank: int, waits_for: int = 5) -> str:
    """What a rank writes last."""
    wait = f"EI0002: The wait execution of the Notify register times out. remote rank [{waits_for}]."
    return FULL if rank == waits_for else wait


def cluster(run: Run, folder: Path) -> Any:
    return json.loads(run("cluster", "--format", "json", str(folder))[1])


PREFIXES: dict[str, Callable[[int], str]] = {
    "torch": lambda rank: f"[rank{rank}]: ",
    "kubectl --timestamps": lambda rank: f"2026-10-26T07:35:00.12345678{rank % 10}Z [rank{rank}]: ",
    "stamped": lambda rank: f"2026-10-26 07:35:00,123 [rank{rank}]: ",
    "pdsh": lambda rank: f"node{rank // 8}: [rank{rank}]: ",
    "srun": lambda rank: f"{rank:>2}: ",
    "mpirun": lambda rank: f"[1,{rank}]<stderr>:",
    "compose": lambda rank: f"{f'worker-{rank}':<9}  | ",
    "torch below pdsh's number of the node": lambda rank: f"{rank // 8}: [rank{rank}]: ",
    "torch_npu": lambda rank: f"[ERROR] 2026-10-26-07:35:00 (PID:{6000 + rank}, Device:{rank % 8}, RankID:{rank}) ",
}


@pytest.mark.parametrize("prefix", PREFIXES.values(), ids=PREFIXES)
def test_all_ranks_of_a_console_are_told_apart(prefix: Callable[[int], str], run: Run, tmp_path: Path) -> None:
    (tmp_path / "console.log").write_text("".join(f"{prefix(rank)}{said(rank)}\n" for rank in RANKS))
    told = cluster(run, tmp_path)
    fault = told["faults"][0]
    assert (fault["entry"], fault["parties"][0]["rank"], len(fault["named_by"])) == ("disk-full", 5, 11)
    assert len(told["faults"]) == 1 and (told["ranks"]["expected"], told["ranks"]["without_logs"]) == (12, [])


@pytest.mark.parametrize(
    "prefix",
    [lambda rank: f"{rank + 1}: ", lambda rank: f"worker-{rank + 1}  | ", lambda rank: f"{'ab'[rank % 2]}-{rank}  | "],
    ids=["grep -n", "replicas from 1", "two services"],
)
def test_numbers_that_are_no_ranks_are_not_taken_for_them(
    prefix: Callable[[int], str], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "console.log").write_text("".join(f"{prefix(rank)}{said(rank)}\n" for rank in RANKS))
    assert cluster(run, tmp_path)["ranks"]["with_logs"] == 0


def test_a_rank_of_which_any_line_was_seen_has_logs(run: Run, tmp_path: Path) -> None:
    lines = [f"[rank{rank}]: {said(rank)}" for rank in RANKS if rank != 5]
    filler = ["step 1 loss 2.0"] * 2000
    (tmp_path / "console.log").write_text("\n".join([*filler, *lines, *filler[:10], "[rank5]: bye"]))
    told = cluster(run, tmp_path)
    assert (told["faults"][0]["parties"][0]["rank"], told["faults"][0]["without_logs"]) == (5, False)
    assert told["ranks"]["without_logs"] == []


def test_a_rank_may_speak_of_ranks_of_its_group(run: Run, tmp_path: Path) -> None:
    for rank in (8, 9, 10):
        told = f"[Rank 1] Watchdog caught\n{PREFIXES['torch_npu'](rank)}{said(rank, 9)}\n"
        (tmp_path / f"{'abc'[rank - 8]}.log").write_text(f"[Rank 0] Watchdog caught\n{told}")
    told_of = cluster(run, tmp_path)
    assert told_of["faults"][0]["parties"][0]["rank"] == 9 and told_of["ranks"]["with_logs"] == 3


def test_a_console_may_be_named_by_the_rank_of_its_node(run: Run, tmp_path: Path) -> None:
    (tmp_path / "node_rank_0.log").write_text("".join(f"[rank{rank}]: {said(rank)}\n" for rank in RANKS))
    told = cluster(run, tmp_path)
    fault = told["faults"][0]
    assert (fault["entry"], fault["parties"][0]["rank"], len(fault["named_by"])) == ("disk-full", 5, 11)
    assert told["ranks"]["without_logs"] == []


def test_why_counts_all_ranks_of_a_paste(run: Run) -> None:
    paste = "".join(f"2026-10-26T07:35:00Z [rank{rank}]: {said(rank)}\n" for rank in RANKS if rank != 5)
    assert "11 ranks wait for rank 5" in " ".join(run("why", "-", stdin=paste)[1].split())


def torchrun_tree(root: Path, ranks: range, told: Callable[[int], str]) -> None:
    """What `torchrun --log-dir` leaves of ranks that say something."""
    for local, rank in enumerate(ranks):
        folder = root / "none_k3x9a1zz" / "attempt_0" / str(local)
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_text("step 1\n")
        (folder / "stderr.log").write_text(told(rank) + "\n")


@pytest.mark.parametrize("words", ["", "[rank{}]: "])
def test_local_ranks_of_torchrun_are_ranks_where_all_are_of_one_host(words: str, run: Run, tmp_path: Path) -> None:
    torchrun_tree(tmp_path / "torchelastic_x1", RANKS, lambda r: words.format(r) + (said(r) if r != 5 else "step 2"))
    told = cluster(run, tmp_path)
    assert (told["faults"][0]["parties"][0]["rank"], told["faults"][0]["without_logs"]) == (5, False)
    assert (told["ranks"]["with_logs"], told["ranks"]["without_logs"], len(told["hosts"])) == (12, [], 1)
    assert run("why", str(tmp_path))[1].startswith("FIRST FAULT  rank 5")


def test_local_ranks_of_torchrun_on_the_second_host_are_the_ranks_that_lines_name(run: Run, tmp_path: Path) -> None:
    for number, host in enumerate(("node0", "node1")):
        ranks = range(8 * number, 8 * number + 8)
        torchrun_tree(tmp_path / host, ranks, lambda rank: f"[rank{rank}]: {said(rank, 13)}")
    told = cluster(run, tmp_path)
    party = told["faults"][0]["parties"][0]
    assert (party["rank"], party["host"], party["device"]) == (13, "node1", 5)
    assert (told["hosts"], told["ranks"]["with_logs"]) == (["node0", "node1"], 16)


@pytest.mark.parametrize(
    ("sources", "several"),
    [
        (["train-worker-0/console.log", "train-worker-1/console.log"], True),
        (["logs.tar!pods/a/console.log", "logs.tar!pods/b/console.log"], True),
        (["none_x/attempt_0/0/stderr.log", "none_x/attempt_0/11/stderr.log"], True),
        (["none_x/attempt_0/0/stderr.log", "none_x/attempt_1/0/stderr.log"], False),
        (["a/console.log", "b/other.log"], False),
        (["nginx/error.log", "mysql/error.log", "boot.log", "dpkg.log", "syslog"], False),
        (["debug/device-0/device-9_20251024111652406.log", "debug/device-1/device-9_20251024111652406.log"], False),
        (["pods/ml_train_0a1b2c3d-0000/main/0.log", "pods/ml_train_0a1b2c3d-0000/init/0.log"], False),
    ],
)
def test_folders_of_one_file_each_are_a_cluster(sources: list[str], several: bool) -> None:
    assert is_cluster(sources) is several


def test_a_rank_that_is_waited_for_counts_to_the_job(run: Run, tmp_path: Path) -> None:
    for rank in range(4):
        (tmp_path / f"rank_{rank}.log").write_text(said(rank, 8) + "\n")
    assert cluster(run, tmp_path)["ranks"] == {
        "expected": 9,
        "with_logs": 4,
        "without_logs": [4, 5, 6, 7, 8],
        "without_error": [],
        "without_known_fault": [],
        "unheard": [],
    }


HEAD = "Traceback (most recent call last):"
FRAMES = ['  File "/job/train.py", line 210, in <module>', "    main()"]
ERROR = "KeyError: 'input_ids'"


def told_by_rank_5(lines: list[str], run: Run, folder: Path) -> Any:
    """The answer for a job in which others wait for rank 5, which writes these lines."""
    (folder / "rank_5.log").write_text("\n".join(lines) + "\n")
    for rank in (0, 1, 2):
        (folder / f"rank_{rank}.log").write_text(said(rank) + "\n")
    return cluster(run, folder)


@pytest.mark.parametrize(
    "lines",
    [
        [HEAD, *FRAMES, ERROR],
        [HEAD, *FRAMES, "ValueError: x", "", "During handling of the above, another occurred:", "", HEAD, ERROR],
        [f"[rank5]: {line}" for line in (HEAD, *FRAMES, ERROR)],
        [f"2026-10-26T07:35:00.123456789Z {line}" for line in (HEAD, *FRAMES, ERROR)],
        [f"2026-10-26T07:35:00.123456789Z [rank5]: {line}" for line in (HEAD, *FRAMES, ERROR)],
        [f"ERROR 11-29 10:00:0{n} [core.py:58] {line}" for n, line in enumerate((HEAD, *FRAMES, ERROR))],
        [*(["step 1 loss 2.0"] * 40_000), HEAD, *FRAMES, ERROR],
    ],
    ids=["plain", "chained", "torch", "stamps", "stamps and torch", "vllm", "long log"],
)
def test_an_exception_that_the_knowledge_lacks_is_told_of_a_suspect(lines: list[str], run: Run, tmp_path: Path) -> None:
    told = told_by_rank_5(lines, run, tmp_path)
    fault = told["faults"][0]
    assert (fault["parties"][0]["rank"], fault["last_exception"]) == (5, ERROR)
    evidence = fault["evidence"][0]
    assert evidence["line"] == len(lines) and evidence["text"] == lines[-1]
    assert (told["ranks"]["without_error"], told["ranks"]["without_known_fault"]) == ([], [5])
    out = run("cluster", str(tmp_path))[1]
    assert f"The last exception in its log: {ERROR}\n" in out and "Errors, but no known fault: rank 5." in out
    assert f"它的日志中最后一个异常：{ERROR}" in run("cluster", "--lang", "zh", str(tmp_path))[1]


@pytest.mark.parametrize("cut", [-40, 1, 20, 50, 90])
def test_an_exception_is_told_wherever_a_log_is_cut_into_parts(
    cut: int, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filler = ["step 1 loss 2.0"] * 10_000
    before = len("\n".join(filler)) + 1
    monkeypatch.setattr(pieces, "_PART", before + cut)
    lines = [*filler, HEAD, *FRAMES, ERROR, *filler]
    fault = told_by_rank_5(lines, run, tmp_path)["faults"][0]
    assert (fault["last_exception"], fault["evidence"][0]["line"]) == (ERROR, 10_004)


def test_exceptions_of_ranks_that_write_into_one_console_are_not_mixed_up(run: Run, tmp_path: Path) -> None:
    ends = {rank: ERROR if rank == 5 else "OSError: gone" for rank in (4, 5, 6)}
    rows = [f"[rank{rank}]: {line}" for line in (HEAD, *FRAMES) for rank in ends]
    rows += [f"[rank{rank}]: {end}" for rank, end in ends.items()]
    waits = [f"[rank{rank}]: {said(rank)}" for rank in (0, 1, 2, 4, 6)]
    (tmp_path / "console.log").write_text("\n".join([*rows, *waits]))
    fault = cluster(run, tmp_path)["faults"][0]
    assert (fault["parties"][0]["rank"], fault["last_exception"]) == (5, ERROR)


def test_a_suspect_with_a_known_fault_is_told_by_that(run: Run, tmp_path: Path) -> None:
    fault = told_by_rank_5([HEAD, *FRAMES, ERROR, HEAD, *FRAMES, FULL], run, tmp_path)["faults"][0]
    assert (fault["entry"], fault["last_exception"]) == ("disk-full", "")
