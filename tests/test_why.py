"""`npu-kb why` as its users meet it: input of every kind, three forms of output, exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb import Knowledge
from npu_kb.diagnosis.scan import LiteralInterest
from npu_kb.render.text import width_of

Run = Callable[..., tuple[int, str, str]]
PASTE = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
ANSWER = "cann-environment-not-loaded"


def test_a_paste_on_standard_input_is_answered(run: Run) -> None:
    status, out, err = run("why", stdin=PASTE)
    assert status == 0
    assert ANSWER in out and "line 1: ImportError: libhccl.so" in out
    assert "source /usr/local/Ascend/ascend-toolkit/set_env.sh" in out
    assert err == ""


def test_files_and_a_dash_are_read_in_order(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("nothing here\n" + PASTE)
    status, out, _ = run("why", "--format", "json", str(path), "-", stdin="more\n")
    evidence = json.loads(out)["matches"][0]["evidence"][0]
    assert status == 0
    assert (evidence["source"], evidence["line"]) == (str(path), 2)


def test_json_follows_the_contract(run: Run) -> None:
    _, out, _ = run("why", "--format", "json", stdin="torch_npu 2.1.0\nerror code is 507018\n" + PASTE)
    document = json.loads(out)
    assert document["schema"] == "npu-kb/diagnosis/1"
    assert {"matches", "codes", "facts", "versions", "next"} <= document.keys()
    match = document["matches"][0]
    assert {
        "id", "verdict", "confidence", "severity", "layer", "topic", "title", "symptom", "cause", "fix", "diagnose",
        "verify", "applies", "evidence", "references",
    } <= match.keys()  # fmt: skip
    assert match["id"] == ANSWER and match["verdict"] in {"certain", "likely"}
    assert 0 <= match["confidence"] <= 1
    assert {"en", "zh", "effect"} <= match["fix"][0].keys()
    assert {"run", "effect", "expect"} <= match["diagnose"][0].keys()
    assert document["versions"]["torch_npu"] == "2.1.0"
    assert any(row["code"] == "507018" and row["line"] == 2 for row in document["codes"])


def test_the_log_is_echoed_only_as_evidence(run: Run) -> None:
    _, out, _ = run("why", "--format", "json", stdin="marker-of-the-log " + PASTE)
    match = json.loads(out)["matches"][0]
    match.pop("evidence")
    assert "marker-of-the-log" not in json.dumps(match)


def test_all_forms_name_the_same_causes_in_the_same_order(run: Run, knowledge: Knowledge) -> None:
    log = PASTE + "\nRuntimeError: operator torchvision::nms does not exist\n"
    _, out, _ = run("why", "--format", "json", stdin=log)
    claims = [m["id"] for m in json.loads(out)["matches"] if m["verdict"] != "possible"]
    assert len(claims) >= 2
    for extra in ([], ["--format", "markdown"], ["--all"]):
        _, text, _ = run("why", *extra, stdin=log)
        places = [text.index(id) for id in claims]
        assert places == sorted(places)


@pytest.mark.parametrize(("lang", "word"), [("en", "Cause"), ("zh", "原因"), ("both", "当前 shell")])
def test_the_answer_speaks_the_language_asked_for(run: Run, lang: str, word: str) -> None:
    _, out, _ = run("why", "--lang", lang, stdin=PASTE)
    assert word in out


def test_a_chinese_locale_gives_a_chinese_answer(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert "原因" in run("why", stdin=PASTE)[1]


def test_no_claim_is_exit_status_1(run: Run) -> None:
    status, out, _ = run("why", stdin="all is well\nstep 100 loss 2.1\n")
    assert status == 1
    assert "No known cause" in out


def test_nothing_certain_decodes_codes_and_says_what_to_capture(run: Run) -> None:
    status, out, _ = run("why", stdin="RuntimeError: the error code is 507018, something new failed\n")
    assert status == 1
    assert "507018" in out
    assert "Capture next" in out and "$ " in out


PACKAGES = "Package Version\n------- -------\ntorch 2.5.1\ntorch-npu 2.1.0.post12\n"
TABLE = """\
| npu-smi 24.1.rc2                 Version: 24.1.rc2                                            |
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| 0     910B3               | OK            | 90.1        46                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3400 / 65536         |
"""


def test_pasted_versions_that_do_not_go_together_are_told(run: Run) -> None:
    status, out, _ = run("why", stdin=PACKAGES)
    assert status == 0
    assert "UNSUPPORTED  torch_npu 2.1.0.post12 - torch 2.5.1" in out
    assert "pip install torch==2.1.0" in out
    assert "pip list" not in out
    assert "不支持  torch_npu" in run("why", "--lang", "zh", stdin=PACKAGES)[1]
    document = json.loads(run("why", "--format", "json", stdin=PACKAGES)[1])
    assert document["judgement"]["state"] == "unsupported"
    assert not any(match["verdict"] != "possible" for match in document["matches"])


@pytest.mark.parametrize("log", ["torch 2.1.0\ntorch-npu 2.1.0.post12\n", "torch 2.5.1\n", PACKAGES + PASTE])
def test_no_versions_are_told_that_fit_or_stand_beside_a_claim(run: Run, log: str) -> None:
    assert "judgement" not in json.loads(run("why", "--format", "json", stdin=log)[1])


def test_what_was_pasted_is_not_asked_for(run: Run) -> None:
    asked = [step["run"] for step in json.loads(run("why", "--format", "json", stdin=TABLE + PACKAGES)[1])["next"]]
    assert asked
    assert not [command for command in asked if command.startswith(("pip list", "npu-smi info"))]


@pytest.mark.parametrize(("lang", "heading"), [("en", "Capture next"), ("zh", "建议继续采集")])
def test_a_plain_sentence_is_answered_with_the_general_next_steps(run: Run, lang: str, heading: str) -> None:
    status, out, _ = run("why", "--lang", lang, stdin="it broke again, please help\n")
    assert status == 1
    assert heading in out
    assert all(f"$ {command}" in out for command in ("grep", "pip list", "npu-smi info"))


@pytest.mark.parametrize("colour", ["always", "never"])
def test_text_fits_80_columns_in_both_languages(run: Run, colour: str) -> None:
    for lang in ("en", "zh", "both"):
        _, out, _ = run("why", "--lang", lang, "--color", colour, "--all", stdin=PASTE + "EI0006: timeout\n")
        plain = __import__("re").sub(r"\x1b\[[\d;]*m", "", out)
        long = [
            line for line in plain.splitlines() if width_of(line) > 80 and not line.strip().startswith(("$", "http"))
        ]
        assert long == []


def test_no_colour_means_no_escape_sequence(run: Run) -> None:
    assert "\x1b" not in run("why", stdin=PASTE)[1]
    assert "\x1b[" in run("why", "--color", "always", stdin=PASTE)[1]


def test_no_escape_sequence_of_the_log_survives(run: Run) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x1b[31m" + PASTE.strip() + "\x1b[0m \u202etxt\x9b31m\n"
    for form in ("text", "markdown", "json"):
        out = run("why", "--format", form, stdin=hostile)[1]
        assert not any(char in out for char in ("\x1b", "\x07", "\x9b", "\u202e"))
        assert "owned" not in out


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16", "utf-8-sig"])
def test_logs_in_other_encodings_are_answered(run: Run, encoding: str) -> None:
    assert ANSWER in run("why", stdin=("启动失败，日志如下\n" + PASTE).encode(encoding))[1]


def test_an_empty_input_says_that_nothing_was_found(run: Run) -> None:
    status, out, err = run("why", stdin=b"")
    assert (status, err) == (1, "")
    assert "No known cause" in out


def test_a_missing_file_is_one_line_and_exit_status_2(run: Run) -> None:
    status, out, err = run("why", "/no/such/file.log")
    assert (status, out) == (2, "")
    assert err == "npu-kb: /no/such/file.log: cannot be read: No such file or directory; give a readable file or `-`\n"


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\0\0ld-linux.so", bytes(range(256)) * 20])
def test_a_binary_is_said_to_be_none_and_nothing_of_it_is_kept(run: Run, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.out").write_bytes(data)
    run("why", stdin="an error unheard of, the first\n")
    for name in (str(tmp_path / "a.out"), "-"):
        status, out, err = run("why", name, stdin=data)
        assert (status, len(out.splitlines())) == (1, 1) and "holds no text" in out
        assert err == f"npu-kb: warning: {name}: is a binary and no log; give what the terminal shows, or a log file\n"
    assert run("why", stdin="")[0] == 1
    assert len(json.loads(run("history", "--format", "json")[1])["diagnoses"]) == 1


def test_a_folder_is_read_with_all_its_files(run: Run, tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "a.log").write_text("all is well\n")
    (tmp_path / "deep" / "er" / "b.log").write_text(PASTE)
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    _, out, _ = run("why", "--format", "json", str(tmp_path))
    assert json.loads(out)["matches"][0]["evidence"][0]["source"] == str(tmp_path / "deep" / "er" / "b.log")


def test_an_empty_folder_is_one_line(run: Run, tmp_path: Path) -> None:
    status, _, err = run("why", str(tmp_path))
    assert status == 2 and err.count("\n") == 1 and "holds no files" in err


def test_a_paste_in_a_terminal_ends_with_one_ctrl_d(shared_cache: Path) -> None:
    import pty

    parent, child = pty.openpty()
    environment = {**os.environ, "NPU_KB_CACHE": str(shared_cache)}
    command = [sys.executable, "-m", "npu_kb", "why", "--format", "json"]
    process = subprocess.Popen(
        command, stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
    )
    os.write(parent, PASTE.encode() + b"\x04")
    out, err = process.communicate(timeout=60)
    os.close(parent)
    os.close(child)
    assert json.loads(out)["matches"][0]["id"] == ANSWER
    assert "Ctrl-D" in err


@pytest.mark.parametrize(
    "hostile",
    [
        "errcode:(" + "1" * 60,
        "|" + " " * 16_000,
        *(f"{word}{' ' * 16_000}\n" * 5 for word in ("mindie", "driver", "open files", "cann")),
        "error " + "a" * 16_000,
        "| 0  910B3 | OK | 1.2.3  45  0 / 0 |\ntmpfs 1.2.3G 1G 1G 50% /dev/shm",
        "&#x202e;&#13;&#10;\u061c\u206a\ufff9\U000e0041 error",
    ],
)
def test_a_hostile_line_neither_hangs_nor_passes_through(run: Run, hostile: str) -> None:
    start = time.process_time()
    _, out, err = run("why", "--format", "json", stdin=hostile)
    assert time.process_time() - start < 20
    assert err == "" and not set(out) & set("\r\u202e\u061c\u206a\ufff9\U000e0041")


def test_a_counter_is_no_error_code(run: Run) -> None:
    _, out, _ = run("why", "--format", "json", stdin="[INFO] RUNTIME(1,python): SubmitTask: task_id=507053\n")
    assert json.loads(out)["codes"] == []


def test_a_closed_input_is_one_line(shared_cache: Path) -> None:
    environment = {**os.environ, "NPU_KB_CACHE": str(shared_cache)}
    done = subprocess.run(
        f"{sys.executable} -m npu_kb why <&-", shell=True, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2 and "standard input is closed" in done.stderr and "Traceback" not in done.stderr


def test_a_full_disk_under_the_answer_is_one_line(shared_cache: Path) -> None:
    environment = {**os.environ, "NPU_KB_CACHE": str(shared_cache)}
    done = subprocess.run(
        f"echo x | {sys.executable} -m npu_kb why >/dev/full",
        shell=True,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and "No space left" in done.stderr and "Traceback" not in done.stderr


def test_bad_usage_is_exit_status_2(run: Run) -> None:
    assert run("why", "--format", "xml")[0] == 2


def test_a_broken_overlay_file_is_named_and_the_rest_answers(run: Run, write_entry: Callable[..., Path]) -> None:
    path = write_entry("broken", "- text: widget exploded", extra="severity: bad\n")
    status, out, err = run("why", "--kb", str(path.parents[2]), stdin=PASTE)
    assert status == 0 and ANSWER in out
    assert err.startswith("npu-kb: warning: left out: ") and err.count("\n") == 1
    assert f"{path}:19:1: severity: key stands twice" in err


def test_an_overlay_adds_and_replaces_entries(run: Run, write_entry: Callable[..., Path]) -> None:
    path = write_entry("our-own-case", "- text: widget exploded")
    assert "our-own-case" in run("why", "--kb", str(path.parents[2]), stdin="widget exploded")[1]
    replaced = write_entry(ANSWER, "- text: 'libhccl.so: cannot open shared object file'")
    assert "Test cause of" in run("show", "--kb", str(replaced.parents[2]), ANSWER)[1]


def test_a_missing_overlay_folder_is_an_error(run: Run) -> None:
    status, _, err = run("why", "--kb", "/no/such/kb", stdin=PASTE)
    assert status == 2 and "no such folder" in err and err.count("\n") == 1


def test_markdown_escapes_what_the_log_could_smuggle_in(run: Run) -> None:
    _, out, _ = run("why", "--format", "markdown", stdin="``` <script> " + PASTE)
    assert "````text" in out


def _limited(code: str, stdin: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with at most 400 MB of memory of its own."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000)); "
    with stdin.open("rb") as file:
        return subprocess.run([sys.executable, "-c", limit + code], stdin=file, capture_output=True, text=True)


def test_a_single_line_of_100_mb_is_answered_in_bounded_memory(tmp_path: Path, shared_cache: Path) -> None:
    path = tmp_path / "huge.log"
    with path.open("wb") as file:
        for n in range(100):
            file.write(b"x" * 999_000 + (b" " + PASTE.strip().encode() + b" " if n == 57 else b" "))
    code = (
        "import re, sys; from npu_kb.cli import main; status = main(['why', '--format', 'json']);"
        "print(re.search(r'VmHWM:\\s*(\\d+)', open('/proc/self/status').read())[1], file=sys.stderr); sys.exit(status)"
    )
    os.environ["NPU_KB_CACHE"] = str(shared_cache)
    try:
        done = _limited(code, path)
    finally:
        del os.environ["NPU_KB_CACHE"]
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"][0]["id"] == ANSWER
    assert int(done.stderr.split()[-1]) < 250_000


def test_many_empty_lines_are_passed_over(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bomb of them unpacks to hundreds of megabytes."""
    looked_at: list[int] = []
    lines_of_interest = LiteralInterest.lines

    def lines(self: LiteralInterest, chunk: list[bytes]) -> list[int]:
        looked_at.append(len(chunk))
        return lines_of_interest(self, chunk)

    monkeypatch.setattr(LiteralInterest, "lines", lines)
    line = b"ImportError: libhccl.so: cannot open shared object file"
    log = b"start\n" + b"\n" * 2_000_000 + b"\r\n" * 1_000_000 + line + b"\n" * 1_000_000 + line
    status, out, _ = run("why", "-", stdin=log)
    assert status == 0 and "line 3000002: ImportError" in out and sum(looked_at) == 3


def test_a_large_log_keeps_the_numbers_of_its_lines(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "large.log"
    healthy = "10:00:00 step done, all is well and nothing to see\n"
    path.write_text(healthy * 90_000 + PASTE + healthy * 10)
    _, out, _ = run("why", "--format", "json", str(path))
    assert json.loads(out)["matches"][0]["evidence"][0]["line"] == 90_001


def test_one_bad_file_of_a_folder_is_told_and_the_others_answer(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("ImportError: libhccl.so: cannot open shared object file\n", "utf-8")
    (tmp_path / "b.log.gz").write_bytes(b"\x1f\x8b\x08\x00cut")
    status, out, err = run("why", str(tmp_path))
    assert status == 0 and out.startswith("CERTAIN  cann-environment-not-loaded")
    assert err.startswith(f"npu-kb: warning: left out: {tmp_path / 'b.log.gz'}: ") and err.count("\n") == 1


def test_where_no_cause_is_known_the_two_nearest_are_shown(run: Run) -> None:
    log = "ImportError: libhccl.so can not open the shared object file\n"
    out = run("why", stdin=log)[1]
    assert out.startswith("No known cause.\n\nNearest, to be checked\n") and out.count("npu-kb show ") == 2
    assert len(json.loads(run("why", "--format", "json", stdin=log)[1])["matches"]) == 3


def test_all_ill_chips_are_evidence_the_worst_first_and_commands_are_for_it(run: Run) -> None:
    table = "\n".join(
        f"| {npu}     910B3               | {health:13} | 91.2        46                0    / 0             |\n"
        f"| {chip}                         | 0000:0{npu}:00.0  | 0           0    / 0          3401 / 65536         |"
        for npu, chip, health in [(1, 0, "OK"), (2, 0, "Alarm"), (3, 1, "Critical"), (4, 0, "Alarm")]
    )
    match = json.loads(run("why", "--format", "json", "-", stdin=table)[1])["matches"][0]
    assert match["id"] == "npu-health-alarm"
    assert [evidence["line"] for evidence in match["evidence"]] == [5, 3, 7]
    assert match["fix"][0]["run"] == match["diagnose"][0]["run"] == "npu-smi info -t health -i 3 -c 1"
    assert "<npu>" in run("show", "npu-health-alarm")[1]
