"""A machine's snapshot: made of fake tools and files, kept, compared, and taken into the diagnosis."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_kb import Knowledge, diagnose
from npu_kb.environment.assemble import assemble
from npu_kb.environment.compare import compare
from npu_kb.environment.evidence import known
from npu_kb.environment.probe import probe
from npu_kb.environment.root import Root
from npu_kb.environment.running import Output, Patience, missing
from npu_kb.environment.snapshot import Fact, Install, Missing, Snapshot, as_json, read_snapshot
from npu_kb.intake.logtext import MAX_LINE, LogText
from npu_kb.intake.redact import redact

MACHINES: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "machines.yaml").read_text("utf-8")
)
OUTPUTS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "outputs.yaml").read_text("utf-8"))
Build = Callable[..., tuple[Root, dict[str, str]]]
Script = Callable[[Path, str], None]


def by_device(snapshot: Snapshot) -> dict[str, Any]:
    return {f"{fact.name} {fact.subject}" if fact.subject else fact.name: fact.value for fact in snapshot.facts}


@pytest.mark.parametrize("name", MACHINES)
def test_the_snapshot_of_a_machine_is_right(name: str, build: Build, knowledge: Knowledge) -> None:
    root, settings = build(MACHINES[name])
    snapshot, expect = probe(knowledge, root, settings), MACHINES[name]["expect"]
    document = snapshot.document()
    for field in ("container", "arch", "chips", "installs", "compatibility", "environment"):
        assert field not in expect or document[field] == expect[field], field
    versions = {component: version.version for component, version in snapshot.versions.items()}
    assert {component: versions.get(component) for component in expect["versions"]} == expect["versions"]
    facts = by_device(snapshot)
    assert {fact: facts.get(fact) for fact in expect["facts"]} == expect["facts"]
    missing = {row.what: row.why for row in snapshot.missing}
    assert all(missing.get(what) == why for what, why in expect.get("missing", {}).items())


def test_versions_that_differ_are_both_told(build: Build, knowledge: Knowledge) -> None:
    driver = probe(knowledge, *build(MACHINES["a3-container"])).versions["driver"]
    assert (driver.version, driver.source) == ("25.2.3", "npu-smi info")
    assert [(o.version, o.source) for o in driver.also] == [("25.2.0", "/usr/local/Ascend/driver/version.info")]


def test_devices_mounts_and_what_is_missing_are_told(build: Build, knowledge: Knowledge) -> None:
    snapshot = probe(knowledge, *build(MACHINES["a3-container"]))
    assert [node.path for node in snapshot.devices.nodes] == ["/dev/davinci0"]
    assert [(m.target, m.options) for m in snapshot.devices.mounts] == [
        ("/", "rw"), ("/dev/shm", "rw,size=65536k"), ("/usr/local/Ascend/driver", "ro"),
    ]  # fmt: skip
    assert {"pip list", "uname -rm", "/usr/local/Ascend/firmware/version.info"} <= {m.what for m in snapshot.missing}


def test_a_machine_without_anything_is_told_too(build: Build, knowledge: Knowledge) -> None:
    snapshot = probe(knowledge, *build({}))
    assert snapshot.chips == [] and snapshot.versions == {} and snapshot.container is False
    assert {row.why for row in snapshot.missing} == {"not found"}


HANGS = {
    "sleeps": "exec /bin/sleep 60",
    "leaves a child that holds the pipe": "/bin/sleep 60 & exit 0",
    "prints without end": 'while :; do printf "| 0 x"; done',
    "prints garbage": "/usr/bin/head -c 3000000 /dev/urandom; exit 3",
    "ignores signals": "trap '' TERM INT HUP; while :; do /bin/sleep 1; done",
    "kills itself": "kill -9 $$",
}


@pytest.mark.parametrize("text", HANGS.values(), ids=HANGS)
def test_tools_that_misbehave_do_not_take_the_answer_away(
    text: str, build: Build, script: Script, knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npu_kb.environment.running._SECONDS", 0.5)
    root, settings = build(MACHINES["a2"])
    for name in ("npu-smi", "hccn_tool", "pip"):
        script(tmp_path / "bin" / name, text)
    snapshot = probe(knowledge, root, settings)
    assert snapshot.versions["cann"].version == "8.2.RC1" and by_device(snapshot)["host.memlock_kb"] == 64
    assert "npu-smi info" in {row.what for row in snapshot.missing} or text.endswith("exit 0")
    assert json.dumps(snapshot.document()).isprintable()


def test_commands_of_many_devices_share_the_time_that_is_left(
    build: Build, script: Script, knowledge: Knowledge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npu_kb.environment.probe.OVERALL_SECONDS", 3.5)
    root, settings = build(MACHINES["a2"])
    script(tmp_path / "bin" / "hccn_tool", "exec /bin/sleep 60")
    start = time.monotonic()
    snapshot = probe(knowledge, root, settings)
    assert time.monotonic() - start < 30
    missing = {row.what: row.why for row in snapshot.missing}
    assert missing["hccn_tool -i 0 -link -g"] == "no answer" and by_device(snapshot)["npu.health 1"] == "Alarm"


def test_a_program_that_gives_no_answer_twice_is_not_asked_again() -> None:
    patience, asked = Patience(), []

    def ask(program: str, why: str) -> Output:
        return patience.ask(program, "x", lambda seconds: asked.append(program) or missing("x", why))

    for why in ("failed", "no answer", "failed", "no answer", "failed"):
        assert ask("npu-smi", why).missing
    assert ask("npu-smi", "failed").missing == missing("x", "no answer").missing
    assert ask("uname", "failed").missing == missing("x", "failed").missing
    assert asked == ["npu-smi"] * 4 + ["uname"]


def test_those_asked_at_once_count_once_one_of_them_was_silent() -> None:
    patience = Patience()
    patience.ask("x", "", lambda seconds: missing("", "no answer"))
    inner = []
    outer = patience.ask(
        "x", "", lambda s: inner.append(patience.ask("x", "", lambda s: Output("", b"more"))) or Output("", b"")
    )
    assert outer.missing is None and inner[0].missing is not None


def test_where_all_programs_hang_those_that_follow_are_waited_for_shortly_and_asked_once() -> None:
    patience, waits = Patience(), []

    def ask(program: str, why: str = "no answer") -> None:
        patience.ask(program, "", lambda seconds: waits.append((program, seconds)) or missing("", why))

    for program in ("npu-smi", "hccn_tool", "hccn_tool", "npu-smi", "df", "pip"):
        ask(program)
    ask("uname", "failed")
    assert len({seconds for _, seconds in waits}) == 1 and len(waits) == 7
    for program in ("lspci", "ss", "ss", "df", "uname"):
        ask(program)
    assert [program for program, _ in waits[7:]] == ["lspci", "ss", "uname"]
    usual, shorter = waits[7][1], waits[8][1]
    assert usual == waits[0][1] > shorter == waits[9][1]


def test_files_without_permission_are_missing(build: Build, knowledge: Knowledge, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    root, settings = build(MACHINES["910a"])
    (tmp_path / "root/usr/local/Ascend/driver/version.info").chmod(0)
    (tmp_path / "bin/npu-smi").chmod(0)
    why = {row.what: row.why for row in probe(knowledge, root, settings).missing}
    assert why["/usr/local/Ascend/driver/version.info"] == why["npu-smi info"] == "no permission"


def test_links_do_not_lead_out_of_the_root(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("outside")
    root = tmp_path / "root"
    (root / "usr").mkdir(parents=True)
    (root / "inside").write_text("inside")
    (root / "usr" / "up").symlink_to("../../../../secret")
    (root / "usr" / "absolute").symlink_to("/inside")
    (root / "usr" / "loop").symlink_to("loop")
    folder = Root(str(root))
    assert folder.read("/usr/absolute") == b"inside"
    for path in ("/usr/up", "/../secret", "/usr/loop"):
        with pytest.raises(OSError):
            folder.read(path)


def test_nothing_that_identifies_stands_in_a_snapshot() -> None:
    text = (
        "$ hccn_tool -i 0 -ip -g\nipaddr:10.20.30.40\nASCEND_PROCESS_LOG_PATH=/home/alice/log\n"
        "HCCL_IF_IP=10.20.30.41\nMASTER_ADDR=blade-7f.example.org\nATB_PASSWORD=hunter2\n"
        "package_name=Ascend-cann-toolkit\nversion=8.2.RC1\ninnerversion=V100R001C22\npath=/home/alice/Ascend/x\n"
    )
    text = json.dumps(assemble(LogText.of(text).lines).document())
    assert not any(word in text for word in ("10.20.30", "alice", "blade-7f", "hunter2"))
    assert "8.2.RC1" in text


def test_subjects_and_sources_are_redacted_too(run: Any, build: Build, script: Script, tmp_path: Path) -> None:
    root, _ = build(MACHINES["a2"] | {"files": {"home/alice/Ascend/cann-8.5.0/version.cfg": "version=8.5.0\n"}})
    mounts = ("/home/alice/secretproject", "/mnt/customer_acme", "/home", "/")
    rows = "".join(f"/dev/sda1 100G 99G 1G 99%% {mount}\n" for mount in mounts)
    script(tmp_path / "bin" / "df", f"printf '{rows}'")
    with pytest.MonkeyPatch.context() as settings:
        settings.setenv("HOME", "/home/alice")
        assert run("env", "save", str(tmp_path / "a.json"), "--root", root.folder)[0] == 0
        shown = run("env", "--root", root.folder)[1]
    text = (tmp_path / "a.json").read_text()
    assert not any(word in text + shown for word in ("alice", "customer_acme"))
    subjects = {fact["subject"] for fact in json.loads(text)["facts"] if fact["name"] == "host.disk_percent"}
    assert subjects == {"/home/<user>/secretproject", "/mnt/<path>", "/home", "/"}


@pytest.mark.parametrize("place", [1, 2])
def test_a_name_with_a_line_break_does_not_move_the_redacted_lines(place: int) -> None:
    lines = LogText.of("package_version=25.2.0\n", "odd\nname" * place).lines
    assert assemble(lines).versions["driver"].source == "odd name" * place


def test_rows_of_one_chip_are_compared_with_few_others(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    equal = Fact.__eq__
    monkeypatch.setattr(Fact, "__eq__", lambda one, other: compared.append(1) or equal(one, other))
    row = "| 0     910B3               | OK            | 93.1        36                0    / 0             |\n"
    facts = len(assemble(LogText.of(row * 300).lines).facts)
    assert facts == 300 * 6 and len(compared) <= facts


LINES = [
    *(line for sample in OUTPUTS for line in sample["text"].splitlines()),
    "-----BEGIN RSA PRIVATE KEY-----", "HCCL_IF_IP=10.1.1.1", "MASTER_ADDR=", "HOSTNAME=gpu-node-17", "\x1b[2J\x9b",
]  # fmt: skip


@settings(max_examples=30)
@given(st.lists(st.sampled_from(LINES), max_size=25))
def test_any_paste_becomes_a_snapshot_that_can_be_read_again(lines: list[str]) -> None:
    snapshot = assemble(LogText.of("\n".join(lines)).lines)
    text = json.dumps(snapshot.document())
    assert Snapshot.model_validate(json.loads(text)) == snapshot
    assert not any(word in text for word in ("10.1.1.1", "gpu-node-17"))
    beside = known(snapshot)
    assert all(0 <= fact.line < len(beside.lines) for fact in beside.facts)
    assert compare(snapshot, snapshot) == []


def test_facts_of_the_machine_are_evidence(build: Build, knowledge: Knowledge) -> None:
    beside = known(probe(knowledge, *build(MACHINES["a2"])))
    claim = next(m for m in diagnose("", knowledge, known=beside).claims if m.entry["id"] == "npu-health-alarm")
    assert claim.evidence[0].source == "npu-smi info" and "| Alarm" in claim.evidence[0].text


def test_versions_of_the_machine_decide_what_applies(knowledge: Knowledge) -> None:
    beside = known(assemble(LogText.of("torch_npu 2.1.0\nvllm 0.9.1").lines))
    assert diagnose("vllm 0.8.5", knowledge, known=beside).versions == {"torch_npu": "2.1.0", "vllm": "0.8.5"}


def test_differences_that_matter_come_first() -> None:
    first, second = (
        assemble(LogText.of(text).lines)
        for text in (
            "HCCL_BUFFSIZE=200\ntorch 2.1.0\nnpu-smi 24.1 Version: 24.1.0",
            "torch 2.1.0\npackage_version=24.1.rc3",
        )
    )
    rows = [(row.kind, row.name, row.first, row.second) for row in compare(first, second)]
    assert rows[0] == ("versions", "driver", "24.1.0", "24.1.rc3")
    assert rows[-1] == ("environment", "HCCL_BUFFSIZE", "200", None)
    assert compare(first, first) == []


def test_what_changes_by_the_minute_is_left_out_unless_asked_for() -> None:
    first, second = (
        assemble(LogText.of(f"NPU ID      : 0\nTemperature(C)      : {degrees}\n").lines) for degrees in (40, 50)
    )
    assert compare(first, second) == []
    assert [(row.name, row.first, row.second) for row in compare(first, second, momentary=True)] == [
        ("npu.temperature_c [0]", "40", "50")
    ]


BEFORE = """\
$ lspci
c1:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d802 (rev 20)
c2:00.0 Processing accelerators: Huawei Technologies Co., Ltd. Device d802 (rev 20)
$ df -h
/dev/sda2 900G 700G 200G 78% /home
/dev/sda3 900G 700G 200G 78% /data
"""


def test_a_lost_card_a_lost_address_and_a_full_disk_matter() -> None:
    address = "$ hccn_tool -i 0 -ip -g\nipaddr:10.1.1.1\n"
    first = assemble(LogText.of(BEFORE + address).lines)
    after = (
        BEFORE.replace("c2:00.0 Pro", "c2:00.0 no pro").replace("78% /home", "97% /home").replace("78% /d", "80% /d")
    )
    second = assemble(LogText.of(after).lines)
    rows = [(row.kind, row.name, row.first is not None, row.second) for row in compare(first, second)]
    assert ("devices", "host.pci_npu [c2:00.0]", True, None) in rows
    assert ("full", "/home", True, "97%") in rows
    assert ("network", "hccn.ip [0]", True, None) in rows
    assert len(rows) == 3


def test_a_disk_of_another_size_is_told_and_a_file_system_in_memory_is_not() -> None:
    df = "$ df -h\n/dev/sda3 900G 700G 200G 78% /data\nnas:/x 2.0T 1T 1T 50% /nas\ntmpfs 60G 0 60G 0% /run\n"
    inodes = "$ df -i\n/dev/sda3 6553600 300000 6253600 5% /data\n"
    first = assemble(LogText.of(df + inodes).lines)
    second = assemble(LogText.of(df.replace("900G", "1.8T").replace("60G", "90G").replace("nas:/x", "#")).lines)
    assert [tuple(row) for row in compare(first, second)] == [
        ("disks", "host.disk_gb [/data]", "900", "1843.2"), ("disks", "host.disk_gb [/nas]", "2048", None),
    ]  # fmt: skip


def test_a_changed_address_is_seen_on_one_machine_and_never_told(build: Build, knowledge: Knowledge) -> None:
    def taken(identity: str, address: str) -> Snapshot:
        root, settings = build({"files": {"etc/machine-id": f"{identity}\n"}})
        return probe(knowledge, root, {**settings, "HCCL_IF_IP": address, "MASTER_ADDR": f"{address}:29500"})

    mine, other = "0f" * 16, "a1" * 16
    before, same, after = (taken(mine, address) for address in ("10.1.2.3", "10.1.2.3", "10.1.2.4"))
    assert compare(before, same) == []
    changed = compare(before, after)
    assert [row.name for row in changed] == ["HCCL_IF_IP", "MASTER_ADDR"]
    for row in changed:
        assert row.first and row.second and row.first != row.second
        assert re.fullmatch(r"<ip-[0-9a-f]{4}>(?::29500)?", row.first) and redact(row.first) == row.first
    assert compare(before, taken(other, "10.1.2.4")) == []
    assert "10.1.2" not in as_json(after) and mine not in as_json(after)
    assert compare(taken("no identity", "10.1.2.4"), before) == [] and "<ip>" in as_json(taken("", "10.1.2.3"))
    ports = [
        assemble(LogText.of(f"$ hccn_tool -i 0 -ip -g\nipaddr:{ip}\n").lines, key=b"k") for ip in ("1.1.1.1", "1.1.1.2")
    ]
    assert [row.name for row in compare(*ports)] == ["hccn.ip [0]"]


def test_a_long_text_of_a_snapshot_counts_as_far_as_a_line_of_a_log_may_be() -> None:
    fact = Fact(name="npu.health", value="Alarm", subject="0", text="Alarm" * 10_000)
    snapshot = Snapshot(taken=None, facts=[fact], environment={"LD_LIBRARY_PATH": "/x:" * 20_000})
    assert [len(line.text) for line in known(snapshot).lines] == [MAX_LINE, MAX_LINE]


def test_differences_are_told_below_the_names_of_the_files_in_words(run: Any, tmp_path: Path) -> None:
    setting = {"LD_LIBRARY_PATH": "/opt/libraries:" * 20 + "one"}
    snapshot = Snapshot(taken=None, environment=setting, container=False)
    other = snapshot.model_copy(
        update={
            "environment": {"LD_LIBRARY_PATH": "/opt/libraries:" * 20 + "two"},
            "container": True,
            "installs": [Install(path="/usr/local/Ascend/a", version="8.2.RC1", loaded=True)],
            "missing": [Missing(what="asys", why="not found"), Missing(what="lspci", why="failed")],
        }
    )
    names = [str(tmp_path / name) for name in ("a.json", "b.json")]
    for name, side in zip(names, (snapshot, other), strict=True):
        Path(name).write_text(as_json(side))
    out = " ".join(run("env", "compare", *names)[1].split())
    assert out.replace(" ", "").startswith("->".join(names))
    assert re.search(r"LD_LIBRARY_PATH: \.\.\.\S+:one -> \.\.\.\S+:two", out)
    assert "container: host -> container" in out
    assert "asys: not reported -> not found" in out and "a: none -> 8.2.RC1 loaded" in out
    chinese = run("env", "compare", *names, "--lang", "zh")[1]
    assert all(word in chinese for word in ("不存在", "执行失败", "已加载", "容器"))
    assert not any(word in chinese for word in ("not found", "failed", "loaded", "container"))


def test_the_available_memory_is_told_in_chinese(run: Any) -> None:
    paste = "              total        used        free      shared  buff/cache   available\n"
    paste += "Mem:     1000000      100000      900000           0           0      900000\n"
    assert "可用内存 90%" in run("env", "--lang", "zh", "--from", "-", stdin=paste)[1]


def test_the_help_tells_the_exit_status(run: Any) -> None:
    out = run("env", "--help")[1]
    assert "compare: a difference" in out and "whatever the judgement" in out


def test_env_reads_pasted_outputs(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("package_version=25.0.rc1.1\n")
    status, out, _ = run("env", "--from", str(tmp_path / "a.txt"), "-", "--format", "json", stdin="torch 2.5.1\n")
    document = json.loads(out)
    assert status == 0 and document["versions"]["driver"]["source"] == str(tmp_path / "a.txt")
    assert document["versions"]["torch"]["version"] == "2.5.1"


FROM = (["env"], ["env", "judge"], ["doctor"], ["checklist", "new-machine"])


@pytest.mark.parametrize("command", FROM, ids=" ".join)
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "holds no fact"), (b"{}", "holds no fact"), (bytes(range(256)) * 9, "holds no fact"),
        (b"nothing of the kind\n", "holds no fact"),
        (b'{"schema": "npu-kb/snapshot/1", "taken": null}', "holds no fact"),
        (b'{"schema": "npu-kb/snapshot/9", "facts": []}', "unknown schema npu-kb/snapshot/9"),
        (b'{"schema": "npu-kb/snapshot/1", "taken"', "is no snapshot"),
    ],
)  # fmt: skip
def test_a_file_that_says_nothing_of_a_machine_is_an_error(
    run: Any, tmp_path: Path, command: list[str], data: bytes, said: str
) -> None:
    file = tmp_path / "x"
    file.write_bytes(data)
    status, out, err = run(*command, "--from", str(file))
    assert (status, out) == (2, "") and len(err.splitlines()) == 1 and str(file) in err and said in err


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_snapshot_is_read_in_any_encoding(run: Any, tmp_path: Path, encoding: str) -> None:
    file, other = tmp_path / "a.json", tmp_path / "b.json"
    text = "torch 2.5.1\nNPU ID      : 5\nHealth      : Alarm\n"
    run("env", "save", str(file), "--name", "a", "--from", "-", stdin=text)
    other.write_bytes(file.read_text("utf-8").encode(encoding))
    document = json.loads(file.read_text("utf-8"))
    assert json.loads(run("env", "--from", str(other), "--format", "json")[1]) == document
    assert json.loads(run("env", "--from", "-", "--format", "json", stdin=other.read_bytes())[1]) == document
    assert "npu-health-alarm" in run("doctor", "--from", str(other))[1]
    assert run("env", "compare", str(file), str(other))[0] == 1


def test_a_snapshot_is_not_mixed_with_another_machine(run: Any, tmp_path: Path) -> None:
    for name in ("a", "b"):
        run("env", "save", str(tmp_path / name), "--from", "-", stdin="torch 2.5.1\n")
    for other in (str(tmp_path / "b"), "-"):
        status, out, err = run("env", "--from", str(tmp_path / "a"), other, stdin="torch 2.6.0\n")
        assert (status, out) == (2, "") and "env compare" in err and len(err.splitlines()) == 1


def test_files_that_contradict_each_other_are_named(run: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("torch 2.5.1\ntorch 2.4.0\n")
    (tmp_path / "b.txt").write_text("torch 2.6.0\n")
    status, out, err = run("env", "--from", str(tmp_path / "a.txt"), str(tmp_path / "b.txt"))
    assert status == 0 and "2.5.1" in out and len(err.splitlines()) == 1
    assert f"{tmp_path / 'a.txt'} says torch 2.5.1, {tmp_path / 'b.txt'} says 2.6.0" in err
    assert run("env", "--from", str(tmp_path / "a.txt"))[2] == ""


TWO_CHIPS = """\
| npu-smi 25.2.3                   Version: 25.2.3                                               |
| 0     Ascend910           | OK            | 226.8       53                0    / 0             |
| 0     0                   | 0000:9D:00.0  | 13          0    / 0          32768/ 65536         |
| 0     Ascend910           | Alarm         | -           96                0    / 0             |
| 1     1                   | 0000:9F:00.0  | 14          0    / 0          62149/ 65536         |
"""


def test_env_shows_each_chip_of_an_npu_and_no_empty_line(run: Any, tmp_path: Path) -> None:
    (tmp_path / "smi.txt").write_text(TWO_CHIPS)
    (tmp_path / "board.txt").write_text("NPU ID : 0\nChip Name : Ascend950PR\nSoftware Version : 25.7.rc1.6\n")
    out = run("env", "--from", str(tmp_path / "smi.txt"))[1]
    assert "0: OK, 53 C, 226.8 W, 50% memory\n" in out and "0/1: Alarm, 96 C, 94.8% memory\n" in out
    assert not any(line.isspace() for line in run("env", "--from", str(tmp_path / "board.txt"))[1].splitlines())


def test_a_snapshot_can_be_kept_and_compared(run: Any, tmp_path: Path) -> None:
    for name, text in (("a", "torch 2.5.1\nulimit -l\n64\n"), ("b", "torch 2.6.0\nulimit -l\nunlimited\n")):
        assert run("env", "save", str(tmp_path / f"{name}.json"), "--name", name, "--from", "-", stdin=text)[0] == 0
    assert read_snapshot(str(tmp_path / "a.json")).host == "a"
    status, out, _ = run("env", "compare", str(tmp_path / "a.json"), str(tmp_path / "b.json"))
    assert status == 0 and "torch: 2.5.1 -> 2.6.0" in out and "host.memlock_kb: 64 -> unlimited" in out
    assert run("env", "compare", str(tmp_path / "a.json"), str(tmp_path / "a.json"))[0] == 1
    status, out, _ = run("env", "compare", str(tmp_path / "a.json"), str(tmp_path / "a.json"), "--lang", "zh")
    assert "没有" in out


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", '{"schema": "other"}', '{"taken": null}',
        '{"schema": "npu-kb/snapshot/1", "facts": 3}', "[" * 9000, "\0\xff",
        '{"schema": "npu-kb/snapshot/1", "taken": null, "environment": {"HCCL_X": "\\ud800"}}',
        '{"schema": "npu-kb/snapshot/1", "taken": null, "compatibility": {"firmware": {"accepts_driver": [[]]}}}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", [["env", "compare"], ["why", "--env"]])
def test_what_is_no_snapshot_is_refused_in_one_line(run: Any, tmp_path: Path, text: str, command: list[str]) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    status, out, err = run(*command, str(file), *([str(file)] if command[0] == "env" else ["-"]))
    assert (status, out) == (2, "") and len(err.splitlines()) == 1 and "npu-kb env save" in err


def test_options_may_stand_on_either_side_of_the_files(run: Any, tmp_path: Path) -> None:
    a, b = (str(tmp_path / name) for name in "ab")
    assert run("env", "save", "--name", "mine", a, "--from", "-", stdin="torch 2.5.1\n")[0] == 0
    assert run("env", "save", "--from", "-", "--name", "mine", b, stdin="torch 2.5.1\n")[0] == 0
    assert read_snapshot(a).host == read_snapshot(b).host == "mine"
    assert run("env", "compare", "--all", a, b)[0] == run("env", "compare", a, "--all", b)[0] == 1
    status, _, err = run("env", "--from", a, "judge")
    assert status == 2 and "`npu-kb env judge --from FILE`" in err


def test_only_a_snapshot_is_overwritten(run: Any, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("precious\n")
    (tmp_path / "empty").touch()
    status, _, err = run("env", "save", str(tmp_path / "log"), "--from", "-", stdin="torch 2.5.1\n")
    assert status == 2 and "not overwritten" in err and (tmp_path / "log").read_text() == "precious\n"
    for version in ("2.5.1", "2.6.0"):
        assert run("env", "save", str(tmp_path / "empty"), "--from", "-", stdin=f"torch {version}\n")[0] == 0
    assert read_snapshot(str(tmp_path / "empty")).plain_versions["torch"] == "2.6.0"


@pytest.mark.parametrize("arguments", [["compare", "a"], ["show", "a"], ["save", "a", "b"], ["--root", "/no/where"]])
def test_wrong_use_of_env_is_refused_in_one_line(run: Any, arguments: list[str]) -> None:
    status, out, err = run("env", *arguments)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1


def test_why_takes_a_snapshot_beside_the_log(run: Any, tmp_path: Path) -> None:
    run("env", "save", str(tmp_path / "a.json"), "--from", "-", stdin="NPU ID      : 5\nHealth      : Alarm\n")
    log = tmp_path / "a.log"
    log.write_text("step 1 loss 2.0\n")
    assert run("why", str(log))[0] == 1
    status, out, _ = run("why", str(log), "--env", str(tmp_path / "a.json"), "--format", "json")
    assert status == 0 and json.loads(out)["matches"][0]["id"] == "npu-health-alarm"
    status, out, _ = run("why", str(log), "--env", str(tmp_path / "a.json"), "--explain", "npu-health-alarm")
    assert status == 0


def test_doctor_names_what_is_wrong_with_a_machine(run: Any) -> None:
    status, out, _ = run("doctor", "--from", "-", stdin="NPU ID      : 5\nHealth      : Alarm\n")
    assert status == 0 and "npu-health-alarm" in out
    status, out, _ = run(
        "doctor",
        "--from",
        "-",
        stdin="NPU ID      : 5\nHealth      : OK\n",
    )
    assert status == 1 and "Nothing wrong" in out


@pytest.mark.parametrize(
    ("machine", "id"),
    [
        ("a3-container", "container-hisi-hdc-not-mapped"),
        ("a2", "npu-health-alarm"),
        ("910a", "npu-link-status-down"),
        ("driver-not-ready", "npu-held-by-another-container"),
    ],
)
def test_doctor_reads_the_machine_itself(run: Any, build: Build, machine: str, id: str) -> None:
    root, _ = build(MACHINES[machine])
    status, out, _ = run("doctor", "--root", root.folder, "--format", "json")
    claims = [match["id"] for match in json.loads(out)["matches"] if match["verdict"] != "possible"]
    assert status == 0 and id in claims


def test_doctor_hints_at_what_may_be_wrong(run: Any) -> None:
    status, out, _ = run("doctor", "--from", "-", stdin="$ ulimit -l\n64\n")
    assert status == 1 and "Worth a look" in out and "locked-memory-limit-too-small" in out
    assert "可以关注" in run("doctor", "--from", "-", "--lang", "zh", stdin="$ ulimit -l\n64\n")[1]


def test_doctor_leaves_no_hint_out_beside_a_cause(run: Any, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    root, settings = build(MACHINES["a2"])
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    out = run("doctor", "--root", root.folder)[1]
    hints = ("disk-full", "several-cann-versions-mixed", "locked-memory-limit-too-small", "max-map-count-too-small")
    assert [id for id in hints if f"npu-kb show {id}" not in out] == []


@pytest.mark.parametrize(
    ("settings", "df", "id"),
    [
        ({}, "tmpfs 10G 10G 0 100% /data", "disk-full"),
        ({"ASCEND_TOOLKIT_HOME": "/usr/local/Ascend/cann-8.2.RC1", "LD_LIBRARY_PATH": "/usr/local/Ascend/cann-8.5.0/lib"},
         "", "several-cann-versions-mixed"),
    ],
)  # fmt: skip
def test_what_the_checklist_disproves_the_doctor_hints_at(
    settings: dict[str, str], df: str, id: str, run: Any, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"usr/local/Ascend/cann-{v}/version.cfg": f"version={v}\n" for v in ("8.2.RC1", "8.5.0")}
    root, _ = build({"files": files, "tools": {"df": {"*": df + "\n"}}})
    for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert run("checklist", "new-machine", "--root", root.folder)[0] == 1
    assert id in run("doctor", "--root", root.folder)[1]


WRONG = "torch 2.5.1\ntorch-npu 2.1.0.post3\n"


@pytest.mark.parametrize("command", [["env"], ["doctor"], ["why", "{log}", "--env", "{file}"]], ids=lambda c: c[0])
@pytest.mark.parametrize("form", ["text", "json"])
def test_versions_that_do_not_go_together_are_named(run: Any, tmp_path: Path, command: list[str], form: str) -> None:
    file, log = tmp_path / "a.json", tmp_path / "a.log"
    log.write_text("step 1 loss 2.0\n")
    run("env", "save", str(file), "--from", "-", stdin=WRONG)
    words = [word.format(file=file, log=log) for word in command]
    source = [] if command[0] == "why" else ["--from", "-"]
    status, out, _ = run(*words, *source, "--format", form, stdin=WRONG)
    assert status == 0
    if form == "text":
        assert "UNSUPPORTED" in out and "Smallest change" in out and "torch_npu 2.1.0.post3 - torch 2.5.1" in out
    elif command[0] != "env":
        assert json.loads(out)["judgement"]["state"] == "unsupported"


def test_versions_of_the_log_are_judged_before_those_of_the_machine(run: Any, tmp_path: Path) -> None:
    run("env", "save", str(tmp_path / "a.json"), "--from", "-", stdin=WRONG)
    log = tmp_path / "a.log"
    log.write_text("torch==2.1.0\n")
    assert "UNSUPPORTED" not in run("why", str(log), "--env", str(tmp_path / "a.json"))[1]


def test_commands_of_overlays_are_not_run(run: Any, build: Build, script: Script, tmp_path: Path) -> None:
    root, _ = build(MACHINES["a2"])
    script(tmp_path / "bin" / "evil", f"echo done > {tmp_path}/evil-ran")
    overlay = tmp_path / "kb"
    overlay.mkdir()
    command = "{run: evil, effect: read, root: no, products: all, shows: {en: xx, zh: xx}, source: x}"
    (overlay / "commands.yaml").write_text(f"commands:\n  npu-smi-info: {command}\n")
    for name in ("env", "doctor"):
        run(name, "--root", root.folder, "--kb", str(overlay))
    assert not (tmp_path / "evil-ran").exists()


def test_env_of_this_machine_can_be_shown(run: Any, build: Build) -> None:
    root, _ = build(MACHINES["a2"])
    status, out, _ = run("env", "--root", root.folder)
    assert status == 0 and "2 x 910B3 (910B)" in out and "npu.health = Alarm [1]" in out and "/home 100%" in out
    assert "npu-smi (6 commands): failed" in out
    status, out, _ = run("env", "--root", root.folder, "--lang", "zh")
    assert status == 0 and "需关注" in out
