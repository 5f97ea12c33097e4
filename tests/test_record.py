"""`npu-kb record`: from a finding to a valid entry that answers its log and leaves the others alone."""

from __future__ import annotations

import io
import os
import pty
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from npu_kb import Knowledge, diagnose, locations
from npu_kb.cli import main
from npu_kb.findings.store import Store
from npu_kb.knowledge.compile import compile_knowledge
from npu_kb.patterns import SLOT

Run = Callable[..., tuple[int, str, str]]
BUILT_IN = Path(locations.builtin_kb_directory())
LOG = """\
(EngineCore_DP0 pid=4242) INFO 11-28 02:10:09 [model.py:33] loading weights took 3.2 seconds
(EngineCore_DP0 pid=4242) ERROR 11-28 02:10:11 [core.py:710] EngineCore failed to start.
(EngineCore_DP0 pid=4242) Traceback (most recent call last):
(EngineCore_DP0 pid=4242)   File "/home/zhangsan/env/lib/python3.11/site-packages/vllm_ascend/pool.py", line 88, in init
(EngineCore_DP0 pid=4242)     raise RuntimeError("frob pool cannot grow")
(EngineCore_DP0 pid=4242) RuntimeError: frob pool on npu:3 cannot grow beyond 4096 pages in graph mode, peer 10.1.2.3
RuntimeError: The Inner error is reported as above. The process exits for this inner error
"""
WORDS = {
    "title": "The frob pool is too small for graph mode",
    "title-zh": "图模式下 frob 池太小",
    "cause": "In graph mode the frob pool has a fixed number of pages, and this model needs more.",
    "cause-zh": "图模式下 frob 池页数固定，该模型所需超过上限。",
    "fix": "Enlarge the pool before the start.",
    "fix-zh": "启动前调大该池。",
}
TEN = [
    "hccl-link-setup-timeout", "cann-environment-not-loaded", "torch-npu-lacks-operator", "triton-ub-overflow",
    "vllm-quantization-ascend-not-registered", "roce-error-cqe", "torch-master-port-in-use",
    "docker-runtime-runc-owner", "om-opp-version-mismatch", "static-tls-block-exhausted",
]  # fmt: skip


@pytest.fixture
def kb(own_kb: Path) -> Path:
    """A built-in knowledge of ten entries and the real good logs."""
    shutil.copytree(BUILT_IN / "goodlogs", own_kb / "goodlogs")
    for id in TEN:
        source = next(BUILT_IN.rglob(f"{id}.yaml"))
        target = own_kb / "entries" / source.parent.name / source.name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(source, target)
    return own_kb


@pytest.fixture
def overlay(kb: Path, tmp_path: Path) -> Path:
    """An empty folder of one's own beside it."""
    folder = tmp_path / "team"
    folder.mkdir()
    return folder


def options(**words: str) -> list[str]:
    """WORDS, some of them replaced or (if empty) left out, as options."""
    return [f"--{name}={text}" for name, text in (WORDS | words).items() if text]


def written(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.yaml"))


def entry_of(path: Path) -> dict[str, object]:
    value = yaml.safe_load(path.read_text("utf-8"))
    assert isinstance(value, dict)
    return value


def first_claims(kb: list[Path], logs: list[str]) -> list[str | None]:
    knowledge = Knowledge(compile_knowledge(kb, "test"))
    claims = [diagnose(log, knowledge, suggest=False).claims for log in logs]
    return [found[0].entry["id"] if found else None for found in claims]


def first_claim(kb: list[Path], log: str) -> str | None:
    return first_claims(kb, [log])[0]


def test_a_log_becomes_a_valid_entry_that_answers_it(run: Run, kb: Path, overlay: Path) -> None:
    status, out, err = run("record", "-", "--kb", str(overlay), *options(), stdin=LOG)
    path = overlay / "entries" / str(entry_of(written(overlay)[0])["layer"]) / "frob-pool-too-small-graph-mode.yaml"
    assert (status, err, written(overlay)) == (0, "", [path])
    assert f"Written: {path}" in out and "why answers this log with it first" in out
    assert run("check", "--kb", str(overlay))[0] == 0
    assert first_claim([kb, overlay], LOG) == path.stem
    assert first_claim([kb, overlay], "RuntimeError: The Inner error is reported as above.") is None
    assert first_claim([kb, overlay], LOG.replace("4096", "77").replace("npu:3", "npu:11")) == path.stem


def test_the_written_entry_reads_like_the_others(run: Run, overlay: Path) -> None:
    run("record", "-", "--kb", str(overlay), *options(), stdin=LOG + "CANN version 8.1.RC1\n")
    text = written(overlay)[0].read_text("utf-8")
    entry = yaml.safe_load(text)
    assert list(entry) == [
        "id", "title", "layer", "topic", "severity", "role", "status", "symptom", "match", "cause", "fix", "verify",
        "samples", "references",
    ]  # fmt: skip
    assert entry["match"] == [
        {"text": "frob pool on npu:<int> cannot grow beyond <int> pages in graph mode", "proves": "likely"}
    ]
    assert entry["samples"]["hit"] == [
        "RuntimeError: frob pool on npu:3 cannot grow beyond 4096 pages in graph mode, peer <ip>"
    ]
    assert entry["status"] == "reported" and "versions" not in entry
    assert "cann 8.1.RC1" in entry["references"][0]["source"]
    assert list(entry["fix"][0]) == ["en", "zh", "effect"] and "zh: 图模式下 frob 池太小" in text


@pytest.mark.parametrize("id", TEN)
def test_an_entry_recorded_anew_answers_its_paste_and_the_others_keep_theirs(run: Run, kb: Path, id: str) -> None:
    pastes = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))["samples"]["hit"][0] for path in written(kb / "entries")
    }
    file = next(kb.rglob(f"{id}.yaml"))
    gone = entry_of(file)
    file.unlink()
    mine = pastes.pop(id)
    others = first_claims([kb], list(pastes.values()))
    words = {"fix": gone["fix"][0], "title": gone["title"], "cause": gone["cause"]}  # type: ignore[index]
    said = [
        f"--{name}{suffix}={SLOT.sub('...', texts[lang])}"
        for name, texts in words.items()
        for lang, suffix in (("en", ""), ("zh", "-zh"))
    ]
    paste = f"INFO step 3 loss 2.1\n{mine}\nERROR [core.py:710] EngineCore failed to start.\n"
    status, out, err = run("record", "-", "--id", "recorded", *said, "--yes", "--kb", str(kb), stdin=paste)
    assert status == 0, out + err
    assert run("check", str(next(kb.rglob("recorded.yaml"))))[0] == 0
    assert first_claims([kb], [mine, paste, *pastes.values()]) == ["recorded", "recorded", *others]


SECRETS = [
    ("10.23.45.67", "23.45"), ("fd00::abcd:77", "abcd:77"), ("gpu-node-17", "node-17"), ("/home/zhangwei/run", "zhangwei"),
    ("hf_abcdefghijklmnopqrst", "abcdefghij"), ("password: hunter42", "hunter42"), ("密码：hunter43", "hunter43"),
    ("用户名：lisi 主机：zeus77", "lisi"), ("li.si@corp.example.com", "li.si"), ("02:42:ac:11:00:09", "ac:11"),
    ("Authorization: Bearer abcDEF123456", "abcDEF"), ("AWS_SECRET_ACCESS_KEY=wJalrKMDENGx", "wJalr"),
    ("手机号：13812345678", "13812345678"), ("Serial Number : 2102313ABC", "2102313"),
]  # fmt: skip
HOSTILE = """\
RuntimeError: frob pool on npu:3 cannot grow beyond 4096 pages in graph mode, {secret}
ERROR worker failed: {secret}
错误：连接失败，{secret}
-----BEGIN RSA PRIVATE KEY-----
MIIEowIBAAKCAQEAerrorKQ8fkzP1failedqCxYzT0WkErrorA7q1w2e3r4t5y6u7i
-----END RSA PRIVATE KEY-----
"""


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_secret_of_a_log_survives(run: Run, overlay: Path, lang: str) -> None:
    page = "".join(HOSTILE.format(secret=secret) for secret, _ in SECRETS)
    log = f"{page}zeus77 went away\n"
    words = options(cause="The pool of zeus77 at 10.23.45.67 is too small for this model in graph mode.")
    status, out, err = run("record", "-", "--lang", lang, "--kb", str(overlay), *words, stdin=log)
    assert status == 0, err
    text = written(overlay)[0].read_text("utf-8")
    for _, core in [*SECRETS, ("", "MIIEow"), ("", "zeus77")]:
        assert core not in text and core not in out
    assert "frob pool on npu:3 cannot grow beyond 4096 pages in graph mode" in text


def test_no_secret_is_kept_of_an_unfinished_finding(run: Run, overlay: Path) -> None:
    page = "".join(HOSTILE.format(secret=secret) for secret, _ in SECRETS)
    status, _, _ = run("record", "-", "--kb", str(overlay), "--cause", "ssh to 10.9.8.7 fails", stdin=page)
    with Store.open() as store:
        kept = str(store.findings())
    assert status == 2 and "frob pool" in kept and "10.9.8.7" not in kept
    assert [core for _, core in [*SECRETS, ("", "MIIEow")] if core in kept] == []


def test_all_that_is_missing_is_named_at_once_and_the_finding_is_kept(run: Run, overlay: Path) -> None:
    status, _, err = run("record", "-", "--kb", str(overlay), "--title", WORDS["title"], stdin=LOG)
    assert (status, written(overlay)) == (2, [])
    assert "still missing: --title-zh, --cause, --cause-zh, --fix, --fix-zh; kept as finding 1" in err
    assert len(err.splitlines()) == 1
    assert WORDS["title"] in run("record", "--list")[1]
    status, _, err = run("record", "--resume", "1", "--kb", str(overlay), *options(title="", fix=""))
    assert status == 2 and "still missing: --fix; kept as finding 1" in err
    status, _, err = run("record", "--resume", "1", "--kb", str(overlay), "--fix", WORDS["fix"])
    assert status == 0 and len(written(overlay)) == 1
    assert run("record", "--list")[1] == "No unfinished findings.\n"


def test_the_language_of_a_text_is_seen_from_it(run: Run, overlay: Path) -> None:
    status, _, err = run("record", "-", "--kb", str(overlay), "--title", WORDS["title-zh"], stdin=LOG)
    assert status == 2 and "still missing: --title, --cause" in err


def test_one_language_alone_makes_no_entry(run: Run, overlay: Path) -> None:
    english = {name: "" for name in WORDS if name.endswith("-zh")}
    status, _, err = run("record", "-", "--kb", str(overlay), *options(**english), stdin=LOG)
    assert status == 2 and "--title-zh, --cause-zh, --fix-zh" in err and written(overlay) == []
    assert "an entry is in English and in Chinese" in err
    err = run("record", "-", "--kb", str(overlay), "--lang", "zh", *options(**english), stdin=LOG)[2]
    assert "条目须中英文齐全；还缺少：--title-zh, --cause-zh, --fix-zh；" in err.replace("; ", "；")


def test_layer_and_topic_are_shown_and_a_guess_is_called_so(run: Run, overlay: Path) -> None:
    words = options()
    out = run("record", "-", "--kb", str(overlay), *words, "--layer", "serving", stdin=LOG)[1]
    assert re.search(r"\nLayer serving, topic [a-z-]+ \(guessed; .* by --topic\)\n", out)
    written(overlay)[0].unlink()
    given = [*words, "--layer", "serving", "--topic", "graph-capture"]
    out = run("record", "-", "--kb", str(overlay), *given, stdin=LOG)[1]
    assert "\nLayer serving, topic graph-capture\n" in out


def test_a_finding_is_dropped(run: Run, overlay: Path) -> None:
    run("record", "-", "--kb", str(overlay), stdin=LOG)
    assert run("record", "--drop", "1")[0] == 0
    status, _, err = run("record", "--drop", "1")
    assert status == 2 and "there is no finding 1" in err
    assert run("record", "--resume", "1", "--kb", str(overlay))[0] == 2


def test_the_log_of_the_last_diagnosis(run: Run, overlay: Path) -> None:
    status, _, err = run("record", "--last", "--kb", str(overlay))
    assert status == 2 and "no diagnosis without an answer was kept; give the log as FILE" in err
    run("why", stdin=LOG)
    run("why", stdin="ImportError: libhccl.so: cannot open shared object file: No such file or directory\n")
    status, _, err = run("record", "--last", "--kb", str(overlay), *options())
    assert status == 0 and err.startswith("npu-kb: diagnosis 1 of ")


def test_what_is_answered_already_is_said_first_and_needs_a_word(run: Run, overlay: Path) -> None:
    log = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
    status, out, err = run("record", "-", "--kb", str(overlay), *options(), stdin=log)
    assert out.startswith("Already answered by cann-environment-not-loaded (certain)") and "better extend" in out
    assert "It stands in " in out and "/entries/cann/cann-environment-not-loaded.yaml\n" in out
    assert status == 2 and "/cann-environment-not-loaded.yaml)" in err and "say --yes" in err and written(overlay) == []


@pytest.mark.parametrize(("kind", "status"), [("", 2), (", wrapper: true", 0)])
def test_a_row_that_knows_the_line_is_named_with_its_file(run: Run, overlay: Path, kind: str, status: int) -> None:
    table = overlay / "signatures" / "quux-driver.yaml"
    table.parent.mkdir()
    table.write_text(
        "component: {en: Quux, zh: 夸克}\nlayer: driver\ntopic: device-lost\nsources: {s: a book}\n"
        "next: {look: {en: Look at it., zh: 查看。}}\nrows:\n- {text: quux overflow of the frobnicator ring, en: The ring"
        f" is full, zh: 环已满, likely: Nobody reads it., likely_zh: 无人读取。, next: look, source: s{kind}}}\n"
    )
    log = "[devmm] quux overflow of the frobnicator ring\nRuntimeError: the ring 7 ended oddly\n"
    told, out, _ = run("record", "-", "--kb", str(overlay), *options(), stdin=log)
    assert told == status
    assert "by quux-driver.quux-overflow-of-the-frobnicator-ring (" in out
    assert f"It stands in {table}\n" in out and "row of one-line faults" in out


def test_near_entries_are_shown_with_how_near_and_why(run: Run, overlay: Path) -> None:
    log = "RuntimeError: [Wait][LinkEstablish]wait socket estbalish timeout, role[3] rank[12] timeout[600 s]\n"
    cause = "An image was loaded without the fp8 quantization method that it names."
    _, out, _ = run(
        "record",
        "-",
        "--kb",
        str(overlay),
        "--title",
        "vLLM does not know the quantization method ascend",
        "--cause",
        cause,
        stdin=log,
    )
    rows = [line.split() for line in out.splitlines() if "%" in line]
    assert {(why, id) for _, why, id in rows} >= {
        ("text", "hccl-link-setup-timeout"),
        ("meaning", "vllm-quantization-ascend-not-registered"),
    }
    assert len(rows) <= 5 and all(60 <= int(percent[:-1]) <= 100 for percent, _, _ in rows)


def test_a_text_of_a_good_log_is_never_taken(run: Run, overlay: Path) -> None:
    log = "Traceback (most recent call last):\nConnectionRefusedError: [Errno 111] Connection refused\n"
    status, _, err = run("record", "-", "--kb", str(overlay), *options(), stdin=log)
    assert status == 2 and ("hits the good log" in err or "a text that recognises it" in err)
    assert written(overlay) == []


@pytest.mark.parametrize(
    ("line", "proves"),
    [
        ("RuntimeError: frob pool on npu:3 cannot grow beyond 4096 pages", "likely"),
        ("RuntimeError: An unexpected error occurred while running the model", "possible"),
        ("ERROR: worker process exited with code 1", "possible"),
        ("KeyError: 'frob_size'", "possible"),
        ("AttributeError: 'NoneType' object has no attribute 'frob'", "possible"),
    ],
)
def test_what_other_faults_print_too_is_no_claim(run: Run, overlay: Path, line: str, proves: str) -> None:
    said = [*options(), "--yes", "--dry-run", "--kb", str(overlay)]
    out = run("record", "-", *said, stdin=line)[1]
    assert f"proves: {proves}\n" in out and ("other faults print it too" in out) == (proves == "possible")
    assert "proves: certain\n" in run("record", "-", *said, "--proves", "certain", stdin=line)[1]


def test_the_proposal_that_is_picked_recognises_it(run: Run, overlay: Path) -> None:
    log = "RuntimeError: frob pool cannot grow\nERROR: HCCL gizmo table of the bridge is exhausted\n"
    run("record", "-", "--kb", str(overlay), *options(), "--pick", "1,2", "--proves", "certain", stdin=log)
    blocks = entry_of(written(overlay)[0])["match"]
    assert [block["proves"] for block in blocks] == ["certain", "certain"]  # type: ignore[attr-defined]
    status, _, err = run(
        "record", "-", "--kb", str(overlay), "--pick", "7", stdin="RuntimeError: zorg matrix is singular\n"
    )
    assert status == 2 and "there is no proposal 7" in err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"id": "Frob Pool"}, "id: is 'Frob Pool', which does not fit"),
        ({"id": "../../etc/x"}, "id: is '../../etc/x', which does not fit"),
        ({"id": "roce-error-cqe"}, "id: is the id of an entry already"),
        ({"topic": "graph-captur"}, "topic: 'graph-captur' is not in kb/topics.yaml (did you mean graph-capture?)"),
        ({"cause-zh": "no Chinese at all"}, "cause.zh: holds no Chinese"),
        ({"miss": "frob pool on npu:1 cannot grow beyond 2 pages in graph mode"}, "samples.miss.0: matches this entry"),
    ],
)  # fmt: skip
def test_what_the_gates_refuse_is_not_written(run: Run, overlay: Path, given: dict[str, str], said: str) -> None:
    status, out, _ = run("record", "-", "--kb", str(overlay), *options(**given), stdin=LOG)
    assert status == 1 and said in out, out
    assert written(overlay) == [] and "kept as finding 1" in out


def test_a_file_is_never_overwritten(run: Run, overlay: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine.yaml"
    target.write_text("mine")
    status, _, err = run("record", "-", "--out", str(target), *options(), stdin=LOG)
    assert status == 2 and "exists already and is never overwritten" in err and target.read_text() == "mine"
    assert list(tmp_path.glob(".*")) == []


def test_a_full_disk_keeps_the_finding(run: Run, overlay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    status, _, err = run("record", "-", "--kb", str(overlay), *options(), stdin=LOG)
    assert status == 2 and "No space left on device" in err and "kept as finding 1" in err
    assert [path for path in overlay.rglob("*") if path.is_file()] == []


def test_without_a_store_the_entry_is_written_all_the_same(
    run: Run, overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPU_KB_STORE", "off")
    status, _, err = run("record", "-", "--kb", str(overlay), stdin=LOG)
    assert status == 2 and "still missing" in err and "not kept (" in err
    assert run("record", "-", "--kb", str(overlay), *options(), stdin=LOG)[0] == 0


def test_the_entry_on_standard_output(run: Run, kb: Path) -> None:
    status, out, err = run("record", "-", "--out", "-", *options(), stdin=LOG)
    assert status == 0 and yaml.safe_load(out)["id"] == "frob-pool-too-small-graph-mode" and "Nearest" not in out
    assert "Recognised by" in err


def test_a_dry_run_writes_nothing(run: Run, overlay: Path) -> None:
    status, out, _ = run("record", "-", "--kb", str(overlay), "--dry-run", *options(), stdin=LOG)
    assert status == 0 and "id: frob-pool-too-small-graph-mode" in out and written(overlay) == []
    assert run("record", "-", "--kb", str(overlay), "--dry-run", stdin=LOG)[0] == 2
    assert run("record", "--list")[1] == "No unfinished findings.\n"


def test_where_the_entry_goes(
    run: Run, kb: Path, overlay: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    assert run("record", "-", *options(id="my-own"), stdin=LOG)[0] == 0
    own = own_home / ".local" / "share" / "npu-kb" / "kb"
    assert [path.stem for path in written(own)] == ["my-own"]
    assert "my-own" in run("why", "-", stdin=LOG)[1]
    shutil.rmtree(own)
    monkeypatch.setenv("NPU_KB_PATH", str(overlay))
    assert run("record", "-", *options(), stdin=LOG)[0] == 0 and len(written(overlay)) == 1
    monkeypatch.delenv("NPU_KB_PATH")
    (kb / "entries" / "deep").mkdir()
    monkeypatch.chdir(kb / "entries" / "deep")
    assert run("record", "-", *options(id="in-checkout"), stdin=LOG)[0] == 0
    assert next(kb.rglob("in-checkout.yaml")).parents[1] == kb / "entries"


def test_entries_that_stand_flat_stay_visible(run: Run, overlay: Path) -> None:
    run("record", "-", "--out", str(overlay / "first.yaml"), *options(id="first"), stdin=LOG)
    other = "RuntimeError: the gizmo table of the bridge is exhausted on npu 3\n"
    assert (
        run(
            "record",
            "-",
            "--kb",
            str(overlay),
            *options(id="second", title="The gizmo table is too small"),
            stdin=other,
        )[0]
        == 0
    )
    assert not (overlay / "entries").exists()
    assert first_claim([overlay], LOG) == "first" and first_claim([overlay], other) == "second"


def test_a_repository_gets_an_author_and_the_commands_to_commit(
    run: Run, overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    subprocess.run(["git", "init", "-q", str(overlay)], check=True)
    subprocess.run(["git", "-C", str(overlay), "config", "user.name", "Li Si"], check=True)
    _, out, _ = run("record", "-", "--kb", str(overlay), *options(layer="serving"), stdin=LOG)
    assert entry_of(written(overlay)[0])["author"] == "Li Si"
    assert f"git -C {overlay} switch -c kb-frob-pool-too-small-graph-mode" in out
    assert f"git -C {overlay} add entries/serving/frob-pool-too-small-graph-mode.yaml" in out


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """An editor that runs this Python on `path`, each time one line of it."""
    program = tmp_path / "an editor.py"
    program.write_text(
        f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\ntext = path.read_text('utf-8')\n{script}"
    )
    monkeypatch.setenv("VISUAL", f"{sys.executable} '{program}'")


def test_an_editor_completes_what_is_missing(
    run: Run, overlay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "path.write_text(text.replace(\"en: ''\", 'en: Some words here').replace(\"zh: ''\", 'zh: 一些文字').replace(\"id: ''\", 'id: by-hand').replace(\"topic: ''\", 'topic: graph-capture').replace(\"layer: ''\", 'layer: serving'), 'utf-8')"
    editor(tmp_path, monkeypatch, script)
    status, out, err = run("record", "-", "--edit", "--kb", str(overlay), stdin=LOG)
    assert status == 0, out + err
    assert [path.name for path in written(overlay)] == ["by-hand.yaml"]


def test_what_is_given_up_in_the_editor_is_kept(
    run: Run, overlay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(
        tmp_path,
        monkeypatch,
        "path.write_text(text.replace('cause:', 'cause: [', 1) if 'cause: [' not in text else text, 'utf-8')",
    )
    status, out, _ = run("record", "-", "--edit", "--kb", str(overlay), *options(), stdin=LOG)
    assert status == 1 and "not valid YAML" in out and "kept as finding 1" in out and written(overlay) == []
    status, _, err = run("record", "--resume", "1", "--kb", str(overlay), "--cause", "another")
    assert status == 2 and "was edited by hand" in err
    editor(tmp_path, monkeypatch, "path.write_text(text.replace('cause: [', 'cause:', 1), 'utf-8')")
    assert run("record", "--resume", "1", "--edit", "--kb", str(overlay))[0] == 0 and len(written(overlay)) == 1


def test_an_editor_that_fails_loses_nothing(run: Run, overlay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for visual, said in (("", "set VISUAL or EDITOR"), ("/no/such/editor", "cannot be used"), ("false", "failed")):
        monkeypatch.setenv("VISUAL", visual)
        monkeypatch.delenv("EDITOR", raising=False)
        status, _, err = run("record", "-", "--edit", "--kb", str(overlay), *options(), stdin=LOG)
        assert status == 2 and said in err and "kept as finding" in err


class Terminal(io.TextIOWrapper):
    """An input that passes for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], shared_cache: Path) -> Run:
    """Run a command on a terminal on which these lines are typed."""

    def call(lines: list[str], *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
        monkeypatch.setattr(sys, "stdin", Terminal(io.BytesIO("".join(f"{line}\n" for line in lines).encode())))
        status = main(list(arguments))
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def log_file(tmp_path: Path) -> str:
    path = tmp_path / "a.log"
    path.write_text(LOG)
    return str(path)


def test_what_is_typed_while_patterns_are_tried_answers_no_question(
    overlay: Path, log_file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typist, terminal = pty.openpty()
    os.write(typist, b"1\n")
    asked = threading.Event()

    def end_the_input() -> None:
        while not asked.wait(0.05):
            os.write(typist, b"\x04")

    thread = threading.Thread(target=end_the_input)
    with os.fdopen(terminal, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        thread.start()
        status = main(["record", log_file, "--kb", str(overlay)])
        asked.set()
        thread.join()
    os.close(typist)
    err = capsys.readouterr().err
    assert status == 2 and "Which of them" in err.partition("Trying patterns ...")[2]
    assert "Title in English" not in err


def test_on_a_terminal_it_asks_and_shows_defaults(answer: Run, overlay: Path, log_file: str) -> None:
    words = list(WORDS.values())
    lines = [
        "1",
        *words,
        "export FROB_PAGES=8192",
        "",
        "",
        "",
        "",
        "",
        "nonsense",
        "serving",
        "graph-capture",
        "",
        "",
        "y",
    ]
    status, out, err = answer(lines, "record", log_file, "--kb", str(overlay))
    assert status == 0 and out.startswith("Written: ")
    assert "Title in Chinese: " in err and "Severity (fault, degraded, benign) [fault]: " in err
    assert "It may be: hardware, driver" in err
    entry = entry_of(written(overlay)[0])
    assert (entry["layer"], entry["topic"]) == ("serving", "graph-capture")
    assert entry["fix"] == [
        {"en": WORDS["fix"], "zh": WORDS["fix-zh"], "run": "export FROB_PAGES=8192", "effect": "write"}
    ]


def test_it_asks_in_chinese_in_a_chinese_locale(answer: Run, overlay: Path, log_file: str) -> None:
    _, _, err = answer(["1", "图模式下 frob 池太小"], "record", log_file, "--kb", str(overlay), "--lang", "zh")
    assert err.index("中文标题") < err.index("英文标题") and "the input ended" in err


def test_what_was_answered_before_the_input_ends_is_kept(answer: Run, run: Run, overlay: Path, log_file: str) -> None:
    status, _, err = answer(["1", WORDS["title"]], "record", log_file, "--kb", str(overlay))
    assert status == 2 and "the input ended; kept as finding 1" in err
    assert WORDS["title"] in run("record", "--list")[1]


def test_an_empty_answer_is_not_taken_where_an_entry_needs_one(answer: Run, overlay: Path, log_file: str) -> None:
    status, _, err = answer(["1", WORDS["title"], "", WORDS["title-zh"]], "record", log_file, "--kb", str(overlay))
    assert status == 2 and err.count("Title in Chinese: ") == 2
    assert err.index("It is needed: an entry is in English and in Chinese.") < err.index("Cause in English")


def test_it_writes_only_if_agreed(answer: Run, overlay: Path, log_file: str) -> None:
    lines = ["1", *10 * [""], "n"]
    status, _, err = answer(lines, "record", log_file, "--kb", str(overlay), *options())
    assert status == 1 and "Write it? (y/n)" in err and "kept as finding 1" in err and written(overlay) == []


@pytest.mark.parametrize("log", [b"", b"\n\n", b"\x00" * 50, b"\x1b[2J\x1b]0;x\x07"])
def test_an_empty_log_is_bad_use(run: Run, overlay: Path, log: bytes) -> None:
    status, out, err = run("record", "-", "--kb", str(overlay), stdin=log)
    assert (status, out) == (2, "") and "the log is empty" in err


def test_a_hostile_log_harms_no_terminal(run: Run, overlay: Path) -> None:
    log = (
        b"RuntimeError: frob \x1b[31mpool\x1b[0m \x9b cannot \xff\xfe grow \xe2\x80\xae beyond "
        + b"A" * 50_000
        + b"\x00\n"
    )
    status, out, err = run("record", "-", "--kb", str(overlay), *options(), stdin=log)
    assert status == 0, out + err
    assert all(char.isprintable() or char == "\n" for char in out + written(overlay)[0].read_text("utf-8"))


def test_bad_use_is_one_line(run: Run, overlay: Path, log_file: str) -> None:
    for arguments, said in (
        (["record", log_file, "--last"], "give only one of FILE, --last and --resume"),
        (["record", "/no/such.log", "--kb", str(overlay)], "cannot be read"),
        (["record", log_file, "--kb", "/no/such/kb"], "no such folder"),
        (["record", log_file, "--kb", str(overlay), "--pick", "one"], "is no list of numbers"),
    ):
        status, _, err = run(*arguments)
        assert status == 2 and said in err and len(err.splitlines()) == 1


def test_an_entry_that_why_reads_only_when_told_says_so(
    run: Run, overlay: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, out, _ = run("record", "-", "--kb", str(overlay), *options(), stdin=LOG)
    assert f"It is read by: npu-kb why --kb {overlay} LOG" in out
    monkeypatch.setenv("NPU_KB_PATH", str(overlay))
    _, out, _ = run(
        "record", "-", "--yes", *options(id="second"), stdin="RuntimeError: the gizmo lamp of npu 3 is out\n"
    )
    assert "Written: " in out and "It is read by" not in out
