"""What `why` keeps, and the commands over it: feedback, history, stats."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb import Knowledge, diagnose
from npu_kb.diagnosis.model import Reports
from npu_kb.findings import schema
from npu_kb.findings.digest import PLAIN_WORDS, label, redacted_paste
from npu_kb.findings.journal import Journal
from npu_kb.findings.store import Store
from npu_kb.intake.logtext import LogText
from npu_kb.intake.redact import redact

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]
PASTE = "ImportError: libhccl.so: cannot open shared object file: No such file or directory\n"
ANSWER = "cann-environment-not-loaded"


def kept() -> list[dict[str, Any]]:
    with Store.open() as store:
        return store.diagnoses()


def test_why_keeps_ids_codes_and_versions_and_no_text_where_a_cause_is_named(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("torch_npu 2.1.0\nerror code is 507018\n" + PASTE)
    assert run("why", str(log))[0] == 0
    (row,) = kept()
    assert row["sources"] == ["train.log"] and row["paste"] is None
    assert row["matches"][0] == {"id": ANSWER, "verdict": "certain"}
    assert row["codes"] == ["acl:507018"] and row["versions"] == {"torch_npu": "2.1.0"}


def test_why_keeps_what_it_answered_to_the_logs_of_several_ranks(run: Run, tmp_path: Path) -> None:
    wait = "EI0002: The wait execution of the Notify register times out."
    for rank, line in enumerate(
        ["RuntimeError: HBM MULTI BIT ECC ERROR. The process exits for this inner error", wait]
    ):
        (tmp_path / "job" / f"node{rank}").mkdir(parents=True)
        (tmp_path / "job" / f"node{rank}" / f"rank_{rank}.log").write_text(f"2025-10-24 03:{rank}0:00,000 {line}\n")
    for _ in range(2):
        assert run("why", str(tmp_path / "job"))[1].startswith("FIRST FAULT  rank 0")
    assert [row["sources"] for row in kept()] == [["job"]] * 2
    assert kept()[0]["matches"] == [{"id": "hbm-multi-bit-ecc-in-use", "verdict": "certain"}] and not kept()[0]["paste"]
    assert "hbm-multi-bit-ecc-in-use" in run("history")[1]
    assert json.loads(run("stats", "--format", "json")[1])["repeats"] == 1
    run("cluster", str(tmp_path / "job"))
    assert len(kept()) == 2


@pytest.mark.parametrize("option", ["--timeline", "--by", "--plot"])
def test_why_says_which_command_has_the_options_of_a_cluster(option: str, run: Run, tmp_path: Path) -> None:
    told = f"npu-kb: why has no {option}: run `npu-kb cluster FOLDER {option}`\n"
    assert run("why", str(tmp_path), option) == (2, "", told)


def test_why_keeps_the_redacted_text_where_no_cause_is_named(run: Run) -> None:
    text = "error: user zhang.san@corp.example at 10.2.3.4 password=hunter2 saw nothing known\n"
    assert run("why", stdin=text)[0] == 1
    (row,) = kept()
    assert row["sources"] == ["-"] and "saw nothing known" in row["paste"]
    assert not any(secret in row["paste"] for secret in ("zhang.san", "10.2.3.4", "hunter2"))


@pytest.mark.parametrize("format", ["json", "markdown"])
def test_every_form_of_an_answer_is_kept_but_no_explanation(run: Run, format: str) -> None:
    run("why", "--format", format, stdin=PASTE)
    run("why", "--explain", ANSWER, stdin=PASTE)
    assert len(kept()) == 1


def test_keeping_an_answer_imports_nothing_slow(shared_cache: Path, run: Run) -> None:
    code = (
        "import sys; from npu_kb.cli import main; main(['why', '--format', 'json'])\n"
        "slow = {'sqlite_utils', 'npu_kb.findings.store', 'npu_kb.intake.redact', 'tempfile'}\n"
        "print(slow & set(sys.modules), file=sys.stderr)"
    )
    run("why", stdin=PASTE)
    environment = {**os.environ, "NPU_KB_CACHE": str(shared_cache)}
    done = subprocess.run(
        [sys.executable, "-c", code], input=PASTE, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stderr == "set()\n" and len(kept()) == 2


def test_off_keeps_nothing(run: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_STORE", "off")
    assert run("why", stdin=PASTE)[::2] == (0, "")
    assert not (own_home / ".local").exists()


@pytest.mark.parametrize("name, expected", [
    ("/data/zhang/train.log", "train.log"), ("-", "-"), ("logs/plog-12.txt", "plog-12.txt"), ("logs/", "logs"),
    ("/a/10.2.3.4.log", "<ip>.log"), ("zhang@corp.example.com.log", "<mail>"), ("a\x1b[31m.log", "a.log"),
    ("\udcff.log", ".log"),
])  # fmt: skip
def test_a_source_is_its_redacted_last_part(name: str, expected: str) -> None:
    assert label(name) == expected


@given(parts=st.lists(st.sampled_from(sorted(PLAIN_WORDS)), min_size=1, max_size=6), sign=st.sampled_from(".-_"))
def test_names_that_are_not_redacted_need_no_redaction(parts: list[str], sign: str) -> None:
    assert label(sign.join(parts)) == sign.join(parts) == redact(sign.join(parts))


def test_a_long_log_is_kept_as_its_telling_lines_from_both_ends() -> None:
    lines = [f"step {n} loss 1.0" for n in range(5000)]
    lines[50], lines[4900] = "first error of all", "last error of all"
    lines[100:4800:2] = ["some error in between"] * 2350
    paste = redacted_paste(LogText.of("\n".join(lines))).split("\n")
    assert len(paste) <= 400 and "step 47 loss 1.0" in paste and "step 46 loss 1.0" not in paste
    assert "first error of all" in paste and "last error of all" in paste
    assert paste.index("first error of all") < paste.index("last error of all")


def test_a_wide_log_is_kept_within_its_bounds_without_half_a_secret() -> None:
    wide = "error " + "x" * 1_980 + " password=correct-horse-battery-staple-and-more " + "y" * 4_000
    paste = redacted_paste(LogText.of("\n".join([wide] * 600)))
    assert 20_000 < len(paste) <= 64_000
    assert "correct" not in paste


def broken_store(own_home: Path, content: bytes) -> Path:
    path = own_home / ".local" / "state" / "npu-kb" / "store.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.write_bytes(content)
    return path


def test_a_damaged_store_costs_why_one_warning_and_history_an_error(run: Run, own_home: Path) -> None:
    path = broken_store(own_home, b"no database " * 1000)
    status, out, err = run("why", stdin=PASTE)
    assert status == 0 and ANSWER in out
    assert err == (
        f"npu-kb: warning: this diagnosis is not kept: {path}: the store is damaged;"
        " move it and its -wal file away, and a new one is begun\n"
    )
    status, out, err = run("history")
    assert (status, out) == (2, "") and str(path) in err and "Traceback" not in err


def test_a_store_by_a_newer_program_costs_why_one_warning(run: Run) -> None:
    run("why", stdin=PASTE)
    with Store.open() as store, sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    status, out, err = run("why", stdin=PASTE)
    assert status == 0 and ANSWER in out
    assert err.count("\n") == 1 and "newer npu-kb" in err


def test_an_older_store_is_brought_up_to_date_by_why(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("why", stdin=PASTE)
    add_column = lambda connection: connection.execute("ALTER TABLE feedback ADD COLUMN host TEXT")  # noqa: E731
    monkeypatch.setattr(schema, "MIGRATIONS", [*schema.MIGRATIONS, add_column])
    assert run("why", stdin=PASTE)[2] == ""
    with Store.open() as store:
        assert len(store.diagnoses()) == 2
        store.add_feedback(1, ANSWER, "wrong")
        assert store.feedback()[0]["host"] is None


def test_a_home_that_cannot_be_written_is_no_cause_for_noise(
    run: Run, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own_home / ".local").write_text("a file in the way")
    status, out, err = run("why", stdin=PASTE)
    assert status == 0 and ANSWER in out and "is not kept" in err
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    assert run("why", stdin=PASTE)[::2] == (0, "")
    monkeypatch.setenv("NPU_KB_STORE", str(own_home / ".local" / "own.db"))
    assert "is not kept" in run("why", stdin=PASTE)[2]


def test_the_log_of_changes_is_folded_into_the_file_now_and_then(own_home: Path, knowledge: Knowledge) -> None:
    journal, diagnosis = Journal(), diagnose(PASTE, knowledge)
    changes = own_home / ".local" / "state" / "npu-kb" / "store.db-wal"
    folded = [number for _ in range(60) if (number := journal.keep(diagnosis, [])) and not changes.exists()]
    assert folded == [50] and len(kept()) == 60


def test_two_wrong_reports_demote_an_answer_visibly_and_undo_restores_it(run: Run) -> None:
    run("why", stdin=PASTE)
    status, out, _ = run("feedback", "wrong", "--note", "it was 10.2.3.4")
    assert status == 0 and f"Marked as wrong: {ANSWER} (feedback 1)." in out and "--undo 1" in out
    assert run("why", stdin=PASTE)[1].startswith("CERTAIN")
    assert "a step less sure" in run("feedback", "wrong", ANSWER)[1]
    status, out, _ = run("why", stdin=PASTE)
    assert status == 0 and out.startswith("LIKELY")
    assert "Feedback your team marked this wrong 2 times: shown as likely." in out
    assert "团队已 2 次标为误判，降为“很可能”。" in run("why", "--lang", "zh", stdin=PASTE)[1]
    assert "your team marked this wrong 2 times" in run("why", "--format", "markdown", stdin=PASTE)[1]
    match = json.loads(run("why", "--format", "json", stdin=PASTE)[1])["matches"][0]
    assert match["feedback"] == {"right": 0, "wrong": 2, "demoted": True} and match["verdict"] == "likely"
    assert run("feedback", "--undo", "2")[0] == 0
    assert run("why", stdin=PASTE)[1].startswith("CERTAIN")


def test_one_right_report_outweighs_one_wrong(knowledge: Knowledge) -> None:
    def verdict(right: int, wrong: int) -> str:
        return diagnose(PASTE, knowledge, feedback={ANSWER: Reports(right, wrong)}).matches[0].verdict

    assert [verdict(0, 1), verdict(0, 2), verdict(1, 2), verdict(3, 5)] == ["certain", "likely", "certain", "likely"]


def test_a_likely_answer_becomes_a_suggestion_and_the_exit_status_says_so(
    small_knowledge: Callable[[], Knowledge], write_entry: Write
) -> None:
    write_entry("one-cause", "- {text: the widget exploded, proves: likely}", "the widget exploded")
    diagnosis = diagnose("the widget exploded", small_knowledge(), feedback={"one-cause": Reports(0, 2)})
    assert [(m.entry["id"], m.verdict) for m in diagnosis.matches] == [("one-cause", "possible")]
    assert diagnosis.claims == [] and diagnosis.matches[0].confidence < 0.5


def test_right_reports_win_a_tie_and_nothing_more(small_knowledge: Callable[[], Knowledge], write_entry: Write) -> None:
    write_entry("first-cause", "- text: the widget exploded today", "the widget exploded today")
    write_entry("second-cause", "- text: the gadget imploded today", "the gadget imploded today")
    write_entry("sure-cause", "- {text: the engine is missing now, proves: certain}", "the engine is missing now")
    log = "the widget exploded today\nthe gadget imploded today\n"

    def order(text: str, **reports: Reports) -> list[str]:
        feedback = {id.replace("_", "-"): value for id, value in reports.items()}
        return [match.entry["id"] for match in diagnose(text, small_knowledge(), feedback=feedback).matches]

    assert order(log) == ["first-cause", "second-cause"]
    assert order(log, second_cause=Reports(1, 0)) == ["second-cause", "first-cause"]
    assert order(log, second_cause=Reports(1, 1), first_cause=Reports(0, 1)) == ["first-cause", "second-cause"]
    assert order(log + "the engine is missing now", second_cause=Reports(9, 0))[0] == "sure-cause"


@pytest.mark.parametrize("arguments, message", [
    ((), "give one of these"),
    (("right", "--list"), "give one of these"),
    (("right",), "nothing was diagnosed here yet; name the entry"),
    (("wrong", "no-such-entry"), "no entry has the id 'no-such-entry'"),
    (("wrong", "--diagnosis", "7"), "there is no diagnosis 7; `npu-kb history` lists them"),
    (("--undo", "7"), "there is no feedback 7"),
    (("--undo", "9" * 30), "must be from 1 to"),
    (("maybe",), "invalid choice"),
])  # fmt: skip
def test_feedback_that_cannot_be_kept_says_why(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run("feedback", *arguments)
    assert (status, out) == (2, "") and message in err


def test_feedback_on_a_diagnosis_without_an_answer_needs_the_entry(run: Run) -> None:
    run("why", stdin="nothing of the kind\n")
    assert "diagnosis 1 named no entry; name the entry" in run("feedback", "wrong")[2]
    assert run("feedback", "right", ANSWER, "--diagnosis", "1")[0] == 0
    assert run("feedback", "right", ANSWER)[0] == 0
    with Store.open() as store:
        assert [row["diagnosis"] for row in store.feedback()] == [None, 1]


def test_feedback_is_listed_with_its_redacted_note(run: Run) -> None:
    assert run("feedback", "--list")[0] == 1
    run("why", stdin=PASTE)
    run("feedback", "wrong", "--note", "it was \x1b[31mzhang@corp.example.com")
    status, out, _ = run("feedback", "--list")
    assert status == 0 and ANSWER in out and "diagnosis 1; it was <mail>" in out
    (row,) = json.loads(run("feedback", "--list", "--format", "json")[1])["feedback"]
    assert (row["verdict"], row["entry"], row["diagnosis"]) == ("wrong", ANSWER, 1)


def test_history_lists_the_last_first_with_findings_below(run: Run) -> None:
    assert run("history") == (1, "Nothing was diagnosed here yet.\n", "")
    run("why", stdin="CANN version: 8.0.RC3\n" + PASTE)
    run("why", stdin="nothing of the kind\n")
    run("feedback", "right", "--diagnosis", "1")
    with Store.open() as store:
        store.save_finding({"entry": {"title": {"en": "A new fault", "zh": ""}}})
    status, out, _ = run("history")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split()[0] == "2" and lines[0].endswith("no answer")
    assert lines[2].split()[0] == "1" and lines[2].endswith(f"certain  {ANSWER}")
    assert lines[3].strip() == f"-; cann 8.0.RC3; right: {ANSWER}"
    assert lines[5].startswith("Unfinished findings") and lines[6].endswith("A new fault")
    assert "无结论" in run("history", "--lang", "zh")[1]
    document = json.loads(run("history", "--format", "json", "--limit", "1")[1])
    assert [row["id"] for row in document["diagnoses"]] == [2] and len(document["findings"]) == 1


def test_since_is_a_day_of_this_machine(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("why", stdin=PASTE)
    with Store.open() as store, sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE diagnoses SET time = '2026-03-01T20:00:00Z'")
    import time

    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert "2026-03-02 04:00" in run("history", "--since", "2026-03-02")[1]
        assert run("history", "--since", "2026-03-02T05:00")[0] == 1
        assert "must be a day or time" in run("history", "--since", "yesterday")[2]
        assert "must be a day or time" in run("history", "--since", "0001-01-01")[2]
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()


def test_stats_count_topics_entries_versions_weeks_and_what_never_occurs(run: Run, knowledge: Knowledge) -> None:
    assert run("stats") == (1, "Nothing was diagnosed here yet.\n", "")
    for number in range(2):
        run("why", stdin=f"CANN version: 8.0.RC3\nrun {number}\n{PASTE}")
    run("why", stdin="nothing of the kind\n")
    run("feedback", "wrong", ANSWER)
    with Store.open() as store, sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE diagnoses SET time = '2026-01-01T00:00:00Z'")
        connection.execute("UPDATE diagnoses SET time = '2026-02-02T00:00:00Z' WHERE id = 2")
        connection.execute("UPDATE diagnoses SET time = '2025-12-28T00:00:00Z' WHERE id = 3")
    status, out, _ = run("stats", "--format", "json")
    document = json.loads(out)
    total = sum(1 for _ in knowledge.entries())
    assert status == 0 and (document["diagnoses"], document["unanswered"]) == (3, 1)
    assert [(row["topic"], row["count"]) for row in document["topics"]] == [("env-setup", 2)]
    assert [(row["id"], row["count"]) for row in document["entries"]] == [(ANSWER, 2)]
    assert document["versions"] == [{"component": "cann", "version": "8.0.RC3", "count": 2}]
    assert document["weeks"] == [
        {"week": "2026-W06", "count": 1, "unanswered": 0},
        {"week": "2026-W01", "count": 1, "unanswered": 0},
        {"week": "2025-W52", "count": 1, "unanswered": 1},
    ]
    assert document["reported_wrong"] == [{"id": ANSWER, "right": 0, "wrong": 1}]
    assert document["entries_known"] == total and ANSWER not in document["never_named"]
    text = run("stats")[1]
    assert text.startswith("3 logs, 1 without an answer (33%).\n") and "2025-W52, 1 without an answer" in text
    assert f"{len(document['never_named'])} of {total} entries" in text
    assert document["never_named"][-1] in run("stats", "--all")[1] and document["never_named"][-1] not in text
    assert json.loads(run("stats", "--format", "json", "--since", "2026-01-01")[1])["diagnoses"] == 2


def test_stats_count_a_log_that_is_given_again_once_and_say_so(run: Run) -> None:
    run("why", stdin=PASTE)
    with Store.open() as store, sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE diagnoses SET checksum = ''")  # as older releases kept it
    for text in (PASTE, PASTE.replace(": cannot", ":\n   cannot"), "nothing of the kind\n", "nothing of the kind\n"):
        run("why", stdin=text)
    document = json.loads(run("stats", "--format", "json")[1])
    assert (document["diagnoses"], document["repeats"], document["unanswered"]) == (3, 2, 1)
    assert [(row["id"], row["count"]) for row in document["entries"]] == [(ANSWER, 2)]
    assert [row["count"] for row in document["weeks"]] == [3]
    assert run("stats")[1].startswith("3 logs, 1 without an answer (33%). 2 repeats of the same logs not counted.\n")
    assert "重复诊断 2 次" in run("stats", "--lang", "zh")[1]


def test_a_number_names_a_diagnosis(run: Run) -> None:
    run("why", "-", stdin="ImportError: libhccl.so: cannot open shared object file: No such file or directory")
    run("why", "-", stdin="all is well")
    status, out, _ = run("history", "1")
    assert (status, "cann-environment-not-loaded" in out, "no answer" in out) == (0, True, False)
    assert "Marked as wrong: cann-environment-not-loaded" in run("feedback", "wrong", "1")[1]
    for words in (["history", "9"], ["feedback", "wrong", "9"]):
        assert run(*words)[::2] == (2, "npu-kb: there is no diagnosis 9; `npu-kb history` lists them\n")
