"""What the answer for a cluster makes of gaps in the logs, of zones, of earlier runs; and how it names who and when."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., tuple[int, str, str]]

SOUND = "2025-10-24 03:00:00,123 INFO step 1"
ECC = "2025-10-24 03:00:10,123 RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error"
WAIT = "2025-10-24 03:30:00,123 EI0002: The wait execution of the Notify register times out."
FULL = "2025-10-24 03:30:01,000 OSError: [Errno 28] No space left on device"


def write(folder: Path, logs: dict[str, list[str]]) -> str:
    """The logs in a folder."""
    for name, lines in logs.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    return str(folder)


def job(first: list[str], ranks: int = 4) -> dict[str, list[str]]:
    """The logs of a job on hosts of two ranks each, in which all but the first rank wait."""
    return {f"node{rank // 2}/rank_{rank}.log": [SOUND, WAIT] if rank else [SOUND, *first] for rank in range(ranks)}


def test_a_rank_without_an_error_is_suspected_where_others_wait(run: Run, tmp_path: Path) -> None:
    shown = run("cluster", write(tmp_path, job([])))[1]
    assert shown.startswith("FIRST FAULT  rank 0 (node0)  2025-10-24 03:00:00.123")


@pytest.mark.parametrize(
    ("option", "moment", "told"),
    [
        ("--since", "2025-10-24 03:29:00", "Only lines from 2025-10-24 03:29:00.000 on were read"),
        ("--until", "2025-10-24 03:50:00Z", "Only lines up to 2025-10-24 03:50:00.000 +00:00 were read"),
    ],
)
def test_no_silence_is_evidence_in_a_window(option: str, moment: str, told: str, run: Run, tmp_path: Path) -> None:
    folder = write(tmp_path / "logs", job([ECC] if option == "--since" else []))
    shown = run("cluster", folder, option, moment)[1]
    assert shown.startswith("Nobody in 4 logs tells what failed first")
    assert told in shown and "Without any error" not in shown
    scanned = str(tmp_path / "all.jsonl")
    run("scan", folder, "--out", scanned, option, moment)
    merged = run("merge", scanned)[1]
    assert merged.startswith("Nobody in 4 logs") and told in merged


def test_no_silence_is_evidence_in_a_scan_that_was_cut(run: Run, tmp_path: Path) -> None:
    logs = job([], ranks=8)
    scans = []
    for number in range(4):
        host = {name.split("/")[1]: lines for name, lines in logs.items() if name.startswith(f"node{number}/")}
        scans.append(str(tmp_path / f"node{number}.jsonl"))
        run("scan", write(tmp_path / f"node{number}", host), "--host", f"node{number}", "--out", scans[-1])
    assert run("merge", *scans)[1].startswith("FIRST FAULT  rank 0")
    cut = Path(scans[0])
    cut.write_text("".join(cut.read_text().splitlines(keepends=True)[:-1]))
    document = json.loads(run("merge", *scans, "--format", "json")[1])
    assert (document["faults"], document["ranks"]["without_error"]) == ([], [])
    assert document["ranks"]["unheard"] == [0, 1]
    assert "nothing is made of their silence: rank 0-1." in run("merge", *scans)[1]


def test_ranks_that_may_stand_in_a_damaged_row_are_not_said_to_have_no_logs(run: Run, tmp_path: Path) -> None:
    scan = tmp_path / "all.jsonl"
    run("scan", write(tmp_path / "logs", job([])), "--out", str(scan))
    rows = scan.read_text().splitlines(keepends=True)
    scan.write_text("".join("x\n" if "rank_1.log" in row else row for row in rows))
    shown = run("merge", str(scan))[1]
    assert shown.startswith("Nobody in 3 logs tells what failed first")
    assert "No logs of rank 1, unless in what was left out." in shown


def test_ranks_of_a_scan_that_cannot_be_read_are_not_suspected(run: Run, tmp_path: Path) -> None:
    scan, other = tmp_path / "node1.jsonl", tmp_path / "node0.jsonl"
    run("scan", write(tmp_path / "logs", {"node1/rank_1.log": [SOUND, WAIT]}), "--out", str(scan))
    assert run("merge", str(scan))[1].startswith("FIRST FAULT  rank 0\n")
    other.write_text("")
    assert run("merge", str(scan), str(other))[1].startswith("Nobody in 1 log tells what failed first")


def test_a_log_that_was_cut_while_it_was_packed_does_not_clear_its_rank(run: Run, tmp_path: Path) -> None:
    waits = "EI0002: The Notify register has not received the Notify record from remote rank [0]."
    folder = write(tmp_path, {f"node0/rank_{rank}.log": [SOUND, f"{WAIT} {waits}"] for rank in range(1, 4)})
    packed = tmp_path / "node0" / "rank_0.log.gz"
    packed.write_bytes(gzip.compress("\n".join([SOUND] * 3 + [str(n * n) for n in range(9_999)]).encode())[:9_000])
    document = json.loads(run("cluster", folder, "--format", "json")[1])
    assert document["ranks"]["without_error"] == [] and document["ranks"]["unheard"] == [0]
    (fault,) = document["faults"]
    assert (fault["parties"][0]["party"], fault["reason"], fault["verdict"]) == ("rank 0", "waited-for", "possible")
    assert "waits for nobody" not in run("cluster", folder)[1]


def test_a_time_is_shown_as_its_line_writes_it(run: Run, tmp_path: Path) -> None:
    for number in range(1_000):
        (tmp_path / f"rank_{number}.log").write_text(ECC.replace(",123", f",{number:03d}") + "\n")
    (tmp_path / "rank_1000.log").write_text(ECC.replace(",123", ".999999") + "\n")
    shown = re.findall(r"03:00:1\d\.\d{3}", run("cluster", str(tmp_path), "--timeline")[1])
    assert shown == [f"03:00:10.{number:03d}" for number in range(1_000)] + ["03:00:11.000"]


def test_ranks_are_in_the_order_of_their_numbers(run: Run, tmp_path: Path) -> None:
    logs = {f"node0/rank_{rank}.log": [SOUND, WAIT] for rank in range(16) if rank not in range(8, 12)}
    folder = write(tmp_path, logs)
    first = run("cluster", folder)[1].splitlines()[0]
    assert first.rstrip() == "FIRST FAULT  ranks 8-11"
    timeline = run("cluster", folder, "--timeline")[1]
    assert re.findall(r"rank (\d+)", timeline) == [str(rank) for rank in range(16) if rank not in range(8, 12)]


def test_a_line_of_nobody_known_is_in_the_timeline(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"slurm-4711.out": [ECC]})
    monkeypatch.chdir(tmp_path)
    (line,) = run("cluster", "slurm-4711.out", "--timeline")[1].splitlines()
    assert "rank and host unknown" in line and "hbm-multi-bit-ecc-in-use" in line


def zoned(zone: str) -> list[str]:
    """Lines whose times name a zone."""
    return [f"2025-10-24T15:00:00{zone} INFO step 1", f"2025-10-24T15:10:00{zone} {ECC.partition(' RuntimeError')[2]}"]


def test_times_are_told_in_the_zone_of_all_logs(run: Run, tmp_path: Path) -> None:
    folder = write(tmp_path / "logs", {f"node{n}/rank_{n}.log": zoned("+08:00") for n in range(2)})
    picture = tmp_path / "job.svg"
    shown = run("cluster", folder, "--plot", str(picture))[1]
    assert "2025-10-24 15:10:00.000" in shown.splitlines()[0]
    assert "Times are +08:00." in shown and "15:10:00" in picture.read_text() and "07:10:00" not in picture.read_text()
    for bound, found in [
        ("15:09", True),
        ("15:11", False),
        ("15:09:00+08:00", True),
        ("07:11:00Z", False),
        ("07:11", True),
    ]:
        assert ("FIRST FAULT" in run("cluster", folder, "--since", f"2025-10-24 {bound}")[1]) == found, bound


def test_times_of_logs_in_several_zones_are_told_in_utc(run: Run, tmp_path: Path) -> None:
    logs = {"node0/rank_0.log": zoned("+08:00"), "node1/rank_1.log": zoned("+02:00")}
    shown = run("cluster", write(tmp_path, logs))[1]
    assert "2025-10-24 07:10:00.000" in shown.splitlines()[0] and "Times are UTC." in shown


def test_times_without_any_zone_are_told_as_they_are(run: Run, tmp_path: Path) -> None:
    shown = run("cluster", write(tmp_path, job([ECC])))[1]
    assert "03:00:10.123" in shown.splitlines()[0] and "Times are" not in shown


@pytest.mark.parametrize("moment", ["11:29:00", "08:29:30", "13:15:00"])
def test_a_cause_that_is_told_hours_after_the_waiting_is_of_another_clock(
    moment: str, run: Run, tmp_path: Path
) -> None:
    folder = write(tmp_path, job([FULL.replace("03:30:01,000", moment)]))
    document = json.loads(run("cluster", folder, "--format", "json")[1])
    assert document["faults"][0]["entry"] == "disk-full"
    assert document["order_is_sure"] is False
    hours = {"11": 8, "08": 5, "13": 10}[moment[:2]]
    assert document["ahead"] == {"source": f"{folder}/node0/rank_0.log", "hours": hours}
    assert f"seems {hours} h ahead" in " ".join(run("cluster", folder)[1].split())


@pytest.mark.parametrize("moment", ["03:20:00", "03:40:00", "11:35:00"])
def test_other_causes_are_of_no_other_clock(moment: str, run: Run, tmp_path: Path) -> None:
    folder = write(tmp_path, job([FULL.replace("03:30:01,000", moment)]))
    assert json.loads(run("cluster", folder, "--format", "json")[1])["ahead"] is None


def test_the_cause_of_an_earlier_run_is_named_with_the_option_that_tells_it(run: Run, tmp_path: Path) -> None:
    logs: dict[str, list[str]] = {}
    for rank in range(4):
        first, second = (f"node0/debug/plog/plog-{pid}{rank}_20251024030000000.log" for pid in (100, 200))
        member = (
            f"[HCCL_TRACE]HcclCommInitRootInfo success, rankNum[4], rank[{rank}], server[192.0.2.1], deviceId[{rank}]"
        )
        logs[first] = [f"{SOUND} {member}", WAIT if rank != 2 else ECC.replace("03:00:10", "03:29:00")]
        logs[second] = [
            line.replace("03:00:00", "03:35:00").replace("03:30:00", "03:45:00")
            for line in (f"{SOUND} {member}", *[WAIT] * (rank != 2))
        ]
    folder = write(tmp_path, logs)
    document = json.loads(run("cluster", folder, "--format", "json")[1])
    (earlier,) = document["earlier"]
    assert (earlier["party"], earlier["entry"]) == ("rank 2", "hbm-multi-bit-ecc-in-use")
    assert earlier["time_text"] == "2025-10-24 03:29:00.123"
    shown = " ".join(run("cluster", folder)[1].split())
    assert f'rank 2: hbm-multi-bit-ecc-in-use; logs read with --until "{earlier["until"]}" tell that run.' in shown
    then = run("cluster", folder, "--until", earlier["until"])[1]
    assert then.startswith("FIRST FAULT  rank 2 (node0)  2025-10-24 03:29:00.123")


def test_a_scheduler_that_misses_workers_tells_of_their_fault(run: Run, tmp_path: Path) -> None:
    late = "[ERROR] DISTRIBUTED(600,ffff,python):2025-10-24-03:10:00.000.000 [cluster_context.cc] Topology build timed out."
    lost = "ModuleNotFoundError: No module named 'mindformers'"
    folder = write(
        tmp_path, {"msrun/scheduler.log": [late], "msrun/worker_0.log": [SOUND], "msrun/worker_2.log": [SOUND, lost]}
    )
    faults = json.loads(run("cluster", folder, "--format", "json")[1])["faults"]
    assert [(fault["parties"][0]["party"], fault["entry"]) for fault in faults] == [
        ("rank 2", "mindformers-not-on-python-path")
    ]
    (tmp_path / "msrun" / "worker_2.log").unlink()
    faults = json.loads(run("cluster", folder, "--format", "json")[1])["faults"]
    assert [fault["entry"] for fault in faults] == ["mindspore-cluster-topology-timed-out"]


def test_the_answer_names_the_command_that_tells_more(run: Run, tmp_path: Path) -> None:
    folder, scan = write(tmp_path / "my logs", job([ECC])), str(tmp_path / "a.jsonl")
    run("scan", folder, "--out", scan)
    assert f"npu-kb cluster '{folder}' with --timeline" in " ".join(run("cluster", folder)[1].split())
    assert f"npu-kb merge {scan} with --timeline" in " ".join(run("merge", scan)[1].split())


@pytest.mark.parametrize("command", ["cluster", "merge"])
def test_the_help_says_how_a_picture_may_be_named(command: str, run: Run) -> None:
    told = " ".join(run(command, "--help")[1].split())
    assert "--plot FILE.svg" in told and "the name ends in .svg or .html" in told
