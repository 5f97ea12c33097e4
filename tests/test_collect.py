"""`npu-kb collect`: what is run and read, that nothing else is, and that the archive is whole, redacted and readable."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge, locations
from npu_kb.collect import logfiles
from npu_kb.collect.plan import plan
from npu_kb.environment.commandline import parse
from npu_kb.environment.root import Root
from npu_kb.environment.running import interruptible
from npu_kb.environment.snapshot import Chip, Devices, Fact, Node, Snapshot

Run = Callable[..., tuple[int, str, str]]
TABLE = """\
| npu-smi 24.1.0                   Version: 24.1.0                                               |
| 0     910B3               | OK            | 93.1        36                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3418 / 65536         |
| 1     910B3               | Alarm         | 92.2        37                0    / 0             |
| 0                         | 0000:01:00.0  | 0           0    / 0          3405 / 65536         |
"""
SMI = f"""\
case "$*" in
"info") cat <<'X'
{TABLE}X
;;
"info -t ecc -i 1") printf 'NPU ID                : 1\\nHBM Double Bit Error Count               : 4\\n';;
"info -t topo") exit 0;;
*) echo "alice@trainbox:/home/alice$ not known to this tool"; exit 9;;
esac
"""
PLOG = (
    "[ERROR] HCCL(77,python3):2026-11-29-10:00:00.123.456 [agent.cpp:289]rank[3] to 192.0.2.7 from /home/alice/x.py\n"
)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """tools(name, text of a shell script) puts a program on the PATH, which holds no others but cat."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "cat").symlink_to("/bin/cat")
    monkeypatch.setenv("PATH", str(folder))

    def tool(name: str, text: str) -> None:
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)

    return tool


@pytest.fixture
def machine(tools: Callable[[str, str], None], tmp_path: Path) -> Path:
    """An A2 with two NPUs, one of which has a fault, and a user with logs: its root folder."""
    tools("npu-smi", SMI)
    tools("hccn_tool", 'case "$*" in "-i 1 -link -g") echo "link status: DOWN";; *) exit 1;; esac')
    tools("dmesg", 'printf "[Sat Nov 29 10:00:00 2026] \\033[31moom-killer: python3\\n"')
    log = tmp_path / "root/home/alice/ascend/log/debug/plog/plog-77_20261129.log"
    log.parent.mkdir(parents=True)
    log.write_text(PLOG)
    for name, text in {"proc/self/limits": "Max locked memory 65536 65536 bytes\n", "dev/davinci0": ""}.items():
        (tmp_path / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "root" / name).write_text(text)
    return tmp_path / "root"


def members(archive: Path) -> dict[str, bytes]:
    with tarfile.open(archive) as tar:
        return {
            name.partition("/")[2]: file.read()
            for name in tar.getnames()
            if (file := tar.extractfile(name)) is not None
        }


def collect(run: Run, root: Path, *more: str) -> tuple[dict[str, bytes], dict[str, Any]]:
    out = root.parent / "scene.tar.gz"
    status, text, err = run("collect", "--root", str(root), "--out", str(out), "--format", "json", *more)
    assert (status, err) == (0, "")
    found = members(out)
    assert json.loads(text) == {"archive": str(out), **json.loads(found["manifest.json"])}
    return found, json.loads(found["manifest.json"])


def test_the_archive_of_a_machine_with_a_fault_is_answered_with_the_fault(run: Run, machine: Path) -> None:
    found, _ = collect(run, machine)
    assert b"HBM Double Bit Error Count               : 4" in found["commands/npu-smi-ecc-npu1.txt"]
    assert found["commands/hccn-link-npu1.txt"] == b"$ hccn_tool -i 1 -link -g\nlink status: DOWN\n"
    status, out, _ = run("why", str(machine.parent / "scene.tar.gz"), "--format", "json")
    named = {match["id"]: match["evidence"][0] for match in json.loads(out)["matches"]}
    assert status == 0 and {"npu-ecc-counts-not-zero", "npu-health-alarm", "npu-link-status-down"} <= named.keys()
    assert named["npu-ecc-counts-not-zero"]["source"].endswith("!scene/commands/npu-smi-ecc-npu1.txt")


def test_the_snapshot_in_the_archive_is_read_like_any(run: Run, machine: Path) -> None:
    found, _ = collect(run, machine)
    scene = machine.parent / "scene.tar.gz"
    document = json.loads(run("env", "--from", str(scene), "--format", "json")[1])
    assert document == json.loads(found["snapshot.json"]) and document["versions"]["driver"]["version"] == "24.1.0"
    status, _, err = run("env", "compare", str(scene), str(scene))
    assert (status, err) == (1, "")
    scene.write_bytes(scene.read_bytes()[:40])
    status, out, err = run("env", "--from", str(scene))
    assert (status, out) == (2, "") and "holds no fact" in err


def test_nothing_in_the_archive_tells_people_or_addresses_nor_steers_a_terminal(run: Run, machine: Path) -> None:
    found, _ = collect(run, machine)
    whole = b"\n".join(found.values())
    assert b"<user>" in whole and b"<ip>" in found["logs/user2/debug/plog/plog-77_20261129.log"]
    assert [word for word in (b"alice", b"trainbox", b"192.0.2.7", b"\x1b") if word in whole] == []


def test_the_manifest_tells_what_was_done_and_what_is_missing(run: Run, machine: Path) -> None:
    found, manifest = collect(run, machine)
    taken = {row["name"]: row for row in manifest["taken"]}
    assert taken.keys() | {"manifest.json"} == found.keys()
    for name, row in taken.items():
        assert (len(found[name]), hashlib.sha256(found[name]).hexdigest()) == (row["bytes"], row["sha256"])
    assert taken["commands/dmesg-ascend.txt"]["status"] == "ok" and b"oom-killer" in found["commands/dmesg-ascend.txt"]
    assert taken["commands/npu-smi-board-npu0.txt"]["status"] == "failed"
    left_out = {row["what"]: row["why"] for row in manifest["left_out"]}
    assert left_out["uname -rm"] == "not found" and left_out["hccn_tool -i 0 -link -g"] == "failed"


def test_a_topic_or_a_log_adds_its_commands(run: Run, machine: Path, tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
    found, manifest = collect(run, machine, str(log))
    assert manifest["topics"][0] == "env-setup" and found["logs/given/job.log"] == log.read_bytes()
    (tmp_path / "scene.tar.gz").unlink()
    _, manifest = collect(run, machine, "--topic", "thermal-power")
    assert "npu-smi info -t power -i 1" in {row["what"] for row in manifest["taken"]}
    status, _, err = run("collect", "--topic", "thermal-powr")
    assert status == 2 and "did you mean thermal-power?" in err


def test_commands_of_a_private_folder_are_never_run(run: Run, machine: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay"
    overlay.mkdir()
    row = {"run": f"/usr/bin/touch {tmp_path}/marker", "effect": "read", "root": False, "products": "all",
           "shows": {"en": "a", "zh": "a"}, "trouble": {"en": "a", "zh": "a"}, "source": "test"}  # fmt: skip
    (overlay / "commands.yaml").write_text(json.dumps({"commands": {"uname": row, "own": row}}))
    found, _ = collect(run, machine, "--kb", str(overlay))
    assert not (tmp_path / "marker").exists() and "commands/uname.txt" not in found


def test_a_program_that_hangs_is_soon_left_alone(
    run: Run, machine: Path, tools: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npu_kb.environment.running._SECONDS", 0.3)
    (machine / "dev/davinci1").write_text("")
    asked = machine / "asked"
    tools("npu-smi", f"echo x >> {asked}; exec /bin/sleep 60")
    tools("dmesg", "exec /bin/cat /dev/zero")
    tools("lsmod", "while :; do echo x; done")
    _, manifest = collect(run, machine)
    left_out = {row["what"]: row["why"] for row in manifest["left_out"]}
    assert left_out["npu-smi info"] == "no answer"
    assert left_out["npu-smi info -t ecc -i 1"] == "no answer" and len(asked.read_text().split()) == 3
    assert left_out["dmesg -T"] == "is no text"


def test_what_is_interrupted_or_fails_leaves_no_archive(
    run: Run, machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["collect", "--root", str(machine), "--out", str(tmp_path / "out" / "x.tar.gz")]
    assert run(*arguments)[0] == 2
    (tmp_path / "out").mkdir()
    for error, status in ((KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 2)):

        def fail(*_: object, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(tarfile.TarFile, "addfile", fail)
        got, out, err = run(*arguments)
        assert (got, out) == (status, "") and ("No space left" in err) == (status == 2)
        assert list((tmp_path / "out").iterdir()) == []
    (tmp_path / "out" / "x.tar.gz").write_text("mine")
    status, _, err = run(*arguments)
    assert status == 2 and "never overwritten" in err and (tmp_path / "out" / "x.tar.gz").read_text() == "mine"


def test_logs_are_the_newest_first_within_the_limits(run: Run, machine: Path) -> None:
    plogs = machine / "home/alice/ascend/log/debug/plog"
    for number, hours in enumerate((1, 5)):
        (plogs / f"old{number}.log").write_text("some line\n" * 90_000)
        os.utime(plogs / f"old{number}.log", (1_000_000_000, 1_000_000_000 - hours * 3600))
    (plogs / "link.log").symlink_to("/etc/passwd")
    (plogs / "data.bin").write_bytes(b"\0\1" * 500)
    found, manifest = collect(run, machine, "--max-mb", "1")
    logs = [name.rpartition("/")[2] for name in found if name.startswith("logs/")]
    assert logs == ["plog-77_20261129.log", "old0.log"]
    left_out = {row["what"].rpartition("/")[2]: row["why"] for row in manifest["left_out"]}
    assert "limit" in left_out["old1.log"] and left_out["data.bin"] == "is no text" and "link.log" not in left_out
    (machine.parent / "scene.tar.gz").unlink()
    _, manifest = collect(run, machine, "--since", "2h")
    assert {"what": "2 log files", "why": "changed before --since"} in manifest["left_out"]


def test_of_a_large_log_head_and_tail_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "big.log"
    path.write_text("".join(f"line {number}\n" for number in range(300_000)))
    data, left_out = logfiles.read_excerpt(str(path))
    lines = data.decode().splitlines()
    assert (lines[0], lines[-1]) == ("line 0", "line 299999")
    assert f"[npu-kb: {left_out} bytes left out here]" in lines
    assert len(data) + left_out == path.stat().st_size + len(f"[npu-kb: {left_out} bytes left out here]\n")


def test_a_log_folder_that_leads_to_what_others_own_is_not_read(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tmp_path / "home/eve/ascend").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/key.log").write_text("key\n")
    (tmp_path / "home/eve/ascend/log").symlink_to("/secret")
    os.chown(tmp_path / "home/eve", 12345, 12345)
    assert logfiles.find_logs(Root(str(tmp_path)), {"HOME": "/root"}) == []


def test_each_npu_and_chip_gets_its_commands(knowledge: Knowledge) -> None:
    a3 = Snapshot(taken=None, chips=[Chip(npu="2", name="Ascend910", family="910_93", count=2)],
                  facts=[Fact(name="npu.physical_id", value=float(id)) for id in (4, 5)])  # fmt: skip
    shown = [step.shown for step in plan(knowledge.commands(), ["npu-smi-hccs"], a3).steps]
    assert [line for line in shown if "-link -g" in line] == ["hccn_tool -i 4 -link -g", "hccn_tool -i 5 -link -g"]
    assert [line for line in shown if "hccs" in line] == [f"npu-smi info -t hccs -i 2 -c {chip}" for chip in (0, 1)]
    assert not any("ub_connect" in line for line in shown)
    files = Devices(nodes=[Node(path=f"/dev/davinci{n}", mode="", owner="", usable=True) for n in (10, 9)])
    shown = [step.shown for step in plan(knowledge.commands(), [], Snapshot(taken=None, devices=files)).steps]
    assert [line for line in shown if "-t ecc" in line] == ["npu-smi info -t ecc -i 9", "npu-smi info -t ecc -i 10"]


def test_whatever_is_wanted_only_what_reads_is_run(knowledge: Knowledge) -> None:
    commands = knowledge.commands()
    chips = [Chip(npu="0", name=name, family=name) for name in ("910B", "950")]
    made = plan(commands, commands, Snapshot(taken=None, chips=chips))
    ids = {step.name.partition("-npu0")[0] for step in made.steps}
    assert len(ids) > 100 and {commands[id]["effect"] for id in ids} == {"read"}
    assert {step.line.arguments[0] for step in made.steps} <= {
        "asys", "ascend-dmi", "cat", "df", "dmesg", "env", "free", "fuser", "grep", "hccn_tool", "id", "journalctl", "ldd",
        "ls", "lsmod", "lspci", "npu-smi", "pip", "python", "ss", "systemctl", "tail", "uname",
    }  # fmt: skip
    left_out = {row.what: row.why for row in made.left_out}
    assert left_out["ulimit -l"] == "needs a shell" and left_out["npu-smi info watch"] == "runs until it is stopped"


@pytest.mark.parametrize(
    "line",
    ["a; b", "a && b", "a > b", "echo $HOME", "a `b`", "a $(b)", 'a "$(b)"', "a | sh", "ulimit -l", "", "| a", "a 'b"],
)
def test_what_needs_a_shell_is_refused(line: str) -> None:
    assert parse(line) is None


def test_filters_are_done_without_a_shell() -> None:
    line = parse("dmesg -T | grep -iE 'npu|hisi' | tail -n 1")
    assert line and line.arguments == ["dmesg", "-T"]
    assert line.filtered(b"a NPU\nb\nc hisi\n") == b"c hisi\n"


@given(st.text(alphabet="ab -|;&$`'\"<>()\\*~/\n", max_size=20))
def test_no_word_of_a_line_is_left_for_a_shell(text: str) -> None:
    line = parse(text)
    assert line is None or not any(char in text for char in ";&`") or "'" in text or '"' in text


def test_every_command_that_is_always_run_exists() -> None:
    from npu_kb.collect import plan as module

    rows = yaml.safe_load((Path(locations.builtin_kb_directory()) / "commands.yaml").read_text("utf-8"))["commands"]
    assert [id for id in (*module.ALWAYS, *module._NEVER) if id not in rows] == []


@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("collect --yes --out {out}", signal.SIGTERM),
        ("env", signal.SIGHUP),
        ("doctor", signal.SIGTERM),
        ("why --env -- {log}", signal.SIGHUP),
    ],
)
def test_an_interruption_leaves_no_command_running(
    machine: Path, tools: Callable[[str, str], None], tmp_path: Path, command: str, number: signal.Signals
) -> None:
    pids = tmp_path / "pids"
    tools("npu-smi", f"echo $$ >> {pids}; /bin/sleep 60 & echo $! >> {pids}; wait")
    out = tmp_path / "x.tar.gz"
    (tmp_path / "log").write_text("step 1 loss 2.0\n")
    arguments = command.format(out=out, log=tmp_path / "log").split()
    arguments += [] if command.startswith("why") else ["--root", str(machine)]
    process = subprocess.Popen([sys.executable, "-m", "npu_kb", *arguments], stdin=subprocess.DEVNULL)
    for _ in range(2400):  # on a busy machine
        if pids.exists() and len(pids.read_text().split()) >= 2:
            break
        time.sleep(0.05)
    for _ in range(2):  # as `timeout` and impatient people do
        process.send_signal(number)
    assert process.wait(20) == 130
    started = [int(pid) for pid in pids.read_text().split()]
    assert len(started) >= 2 and not [pid for pid in started if _runs(pid)]
    assert [path.name for path in tmp_path.iterdir() if "x.tar" in path.name or ".part" in path.name] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_late_second_signal_does_not_cut_the_end_short(number: signal.Signals) -> None:
    program = f"""
import os
from npu_kb.environment.running import interruptible
try:
    with interruptible(), interruptible():
        os.kill(os.getpid(), {number.value})
except KeyboardInterrupt:
    os.kill(os.getpid(), {number.value})
    os._exit(130)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 130


def test_afterwards_the_signals_do_what_they_did() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with interruptible(), suppress(ValueError), interruptible():
        raise ValueError
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def _runs(pid: int) -> bool:
    """Whether it is there and no zombie, a good while after it was killed."""
    for _ in range(40):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.05)
    return True
