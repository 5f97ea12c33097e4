"""Tables of one-line faults: recognised behind all entries, shown like them, and checked row by row."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from npu_kb import Knowledge, diagnose
from npu_kb.gates.goodlogs import good_texts
from npu_kb.knowledge.signatures import read_signatures

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]

HEAD = """\
component: {en: Test driver, zh: 测试驱动}
layer: driver
topic: driver-install
sources: {code: "https://example.org/driver.c", line: text as printed}
next:
  processes: {command: npu-smi-proc-mem, en: See who holds the memory., zh: 查看显存占用进程。}
  lines-above: {en: Read the lines above., zh: 查看上文日志。}
rows:
"""
ROW = '- {{text: "{text}", en: "{en}", zh: "{en}（中文）", likely: It was refused., likely_zh: 请求被拒绝。, next: {next}, source: code{extra}}}\n'


@pytest.fixture
def write_rows(own_kb: Path, write_entry: Write) -> Write:
    """Write a table beside an entry: write_rows(("text", "title", ", more: fields"), ...)."""
    write_entry("known-entry", "- text: some failing text")

    def write(*rows: tuple[str, ...], head: str = HEAD, name: str = "test-driver") -> Path:
        path = own_kb / "signatures" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        lines = [ROW.format(text=text, en=en, extra="".join(extra), next="processes") for text, en, *extra in rows]
        path.write_text(head + "".join(lines), "utf-8")
        return path

    return write


def first(run: Run, log: str) -> tuple[str, str]:
    """(id, verdict) of the first match."""
    _, out, err = run("why", "--format", "json", "-", stdin=log)
    assert err == ""
    match = next(iter(json.loads(out)["matches"]), {"id": "", "verdict": ""})
    return match["id"], match["verdict"]


def found(run: Run, path: Path) -> list[str]:
    """`field: message` of each problem that check names of a table."""
    _, out, _ = run("check", "--format", "json", str(path))
    return [f"{row['field']}: {row['message']}" for row in json.loads(out)["problems"]]


def test_a_line_is_claimed_with_its_cause_and_what_to_do(run: Run, write_rows: Write) -> None:
    write_rows(("page table of <int> is gone", "A page table was freed too early"))
    _, out, _ = run("why", "--format", "json", "-", stdin="[ERROR] DRV(1,python3): Page  table of 12 is gone, ret=3\n")
    (match,) = json.loads(out)["matches"]
    assert (match["id"], match["verdict"]) == ("test-driver.page-table-of-is-gone", "likely")
    assert match["title"] == {
        "en": "A page table was freed too early",
        "zh": "A page table was freed too early（中文）",
    }
    assert match["cause"]["zh"] == "请求被拒绝。"
    (fix,) = match["fix"]
    assert (fix["en"], fix["run"], fix["effect"]) == (
        "See who holds the memory.",
        "npu-smi info -t proc-mem -i <npu>",
        "read",
    )
    assert [e["line"] for e in match["evidence"]] == [1]
    assert match["references"] == [{"url": "https://example.org/driver.c"}]


def test_an_entry_that_claims_comes_first(run: Run, write_rows: Write) -> None:
    write_rows(("page table is gone for this very long reason", "A page table was freed too early"))
    log = "page table is gone for this very long reason\nsome failing text\n"
    matches = json.loads(run("why", "--format", "json", "-", stdin=log)[1])["matches"]
    line = "test-driver.page-table-is-gone-for-this-very-long"
    assert [(match["id"], match["verdict"]) for match in matches] == [("known-entry", "likely"), (line, "possible")]


def test_of_several_lines_one_is_claimed(run: Run, write_rows: Write) -> None:
    write_rows(("page table is gone", "One"), ("page directory is gone", "Two"))
    _, out, _ = run("why", "--format", "json", "-", stdin="page directory is gone\npage table is gone\n")
    assert [match["verdict"] for match in json.loads(out)["matches"]] == ["likely", "possible"]


SCHEDULER = HEAD.replace("layer: driver\ntopic: driver-install", "layer: system\ntopic: kubernetes")


def test_an_independent_fault_of_the_host_is_claimed_too(run: Run, write_rows: Write) -> None:
    write_rows(("page table is gone", "One"))
    write_rows(("no node fits this pod", "Two"), ("no node is left", "Three"), head=SCHEDULER, name="scheduler")

    def claims(log: str) -> list[str]:
        matches = json.loads(run("why", "--format", "json", "-", stdin=log)[1])["matches"]
        return [match["id"] for match in matches if match["verdict"] == "likely"]

    both = "no node fits this pod\nno node is left\n"
    assert claims(both + "some failing text\n") == ["known-entry", "scheduler.no-node-fits-this-pod"]
    assert set(claims(both + "page table is gone\n")) == {
        "test-driver.page-table-is-gone", "scheduler.no-node-fits-this-pod",
    }  # fmt: skip
    out = run("why", "-", stdin=both + "some failing text\n")[1]
    assert "npu-kb show scheduler.no-node-fits-this-pod" in out.partition("Another, independent fault")[2]


def test_a_wrapper_is_only_suggested(run: Run, write_rows: Write) -> None:
    write_rows(("stage of the job ended badly", "A stage failed", ", wrapper: true"))
    assert first(run, "stage of the job ended badly\n") == ("test-driver.stage-of-the-job-ended-badly", "possible")


def test_any_spelling_is_the_same_fault(run: Run, write_rows: Write) -> None:
    write_rows(("page table is gone", "A page table was freed too early", ', any: ["page directory is gone"]'))
    assert first(run, "page directory is gone\n") == ("test-driver.page-table-is-gone", "likely")


def test_a_general_text_needs_its_neighbour(run: Run, write_rows: Write) -> None:
    write_rows(("alloc refused", "The driver got no memory", ', near: ["devmm"]'))
    assert first(run, "[devmm] alloc refused\n") == ("test-driver.alloc-refused", "likely")
    assert first(run, "[other] alloc refused\n") == ("", "")


def test_the_neighbour_of_a_file_is_that_of_its_rows(run: Run, write_rows: Write) -> None:
    write_rows(("alloc refused", "The driver got no memory"), head=HEAD.replace("rows:", "near: [devmm]\nrows:"))
    assert first(run, "[devmm] alloc refused\n")[1] == "likely"
    assert first(run, "[other] alloc refused\n") == ("", "")


def test_lines_of_any_stack_are_claimed_only_beside_text_of_ascend(run: Run, write_rows: Write) -> None:
    write_rows(("alloc refused", "The program got no memory"), head=HEAD.replace("rows:", "general: true\nrows:"))
    assert first(run, "npu:0 alloc refused\n")[1] == "likely"
    assert first(run, "[other] alloc refused\n")[1] == "possible"


def test_a_line_can_be_shown_searched_and_explained(run: Run, write_rows: Write) -> None:
    write_rows(("fault word QX77E01 seen", "A page table was freed too early"))
    id = "test-driver.fault-word-qx77e01-seen"
    status, out, _ = run("show", id)
    assert status == 0 and "Test driver: the log says `fault word QX77E01 seen`." in out
    for words in (["fault word qx77e01"], ["QX77E01", "table"], ["freed", "early"], [id]):
        results = json.loads(run("search", "--format", "json", *words)[1])["results"]
        assert id in [result["id"] for result in results]
    assert run("explain", "QX77E01")[1].startswith(f"{id}\n  A page table was freed too early\n")


def test_who_searches_for_program_text_gets_its_line_first(run: Run, write_rows: Write) -> None:
    write_rows(("some failing text of the driver", "A page table was freed too early"))
    ids = [r["id"] for r in json.loads(run("search", "--format", "json", "failing text of the")[1])["results"]]
    assert ids == ["test-driver.some-failing-text-of-the-driver", "known-entry"]


def test_a_line_stands_behind_an_entry_that_fits_as_well(run: Run, write_rows: Write) -> None:
    write_rows(("some failing text", "The same words"), ("frobnicator said: some failing text", "Some of its words"))
    ids = [r["id"] for r in json.loads(run("search", "--format", "json", "failing text")[1])["results"]]
    assert ids == ["known-entry", "test-driver.some-failing-text", "test-driver.frobnicator-said-some-failing-text"]


def test_a_scan_finds_lines_too(run: Run, write_rows: Write, tmp_path: Path) -> None:
    write_rows(("page table is gone", "A page table was freed too early"))
    log = tmp_path / "plog" / "plog-7_20260101.log"
    log.parent.mkdir()
    log.write_text("[ERROR] DRV(7,python3):2026-01-01-10:00:00.000.000 [a.c:1][7]page table is gone\n", "utf-8")
    out = run("scan", str(log.parent))[1]
    assert "test-driver.page-table-is-gone" in out


def test_texts_that_read_alike_get_ids_of_their_own(write_rows: Write) -> None:
    table, problems = read_signatures(write_rows(("gone: a", "One"), ("gone, a", "Two")), trusted=True)
    assert table is not None and problems == []
    ids = list(table.rows)
    assert ids[0] == "test-driver.gone-a" and ids[1].startswith("test-driver.gone-a-") and len(set(ids)) == 2


def test_a_good_table_passes(run: Run, write_rows: Write) -> None:
    path = write_rows(("page table is gone", "One"), ("page directory is <int> short", "Two"))
    assert found(run, path) == []
    assert run("check", str(path))[1] == "0 entries and 2 one-line faults checked: no problems\n"
    assert "2 one-line faults checked: no problems" in run("check")[1]


GOOD = ("page table is gone", "A page table was freed too early")
PLANTED = {
    "an unknown topic": (HEAD.replace("driver-install", "no-topic"), [GOOD], "topic: 'no-topic' is not in kb/topics.yaml"),
    "an unknown command": (HEAD.replace("npu-smi-proc-mem", "no-such"), [GOOD], "next.processes.command: 'no-such' is not in kb/commands.yaml"),
    "an unknown next step": (HEAD.replace("processes:", "others:"), [GOOD], "rows.0.next: 'processes' is not in the table `next`; add it there"),
    "an unknown source": (HEAD.replace("code:", "other:"), [GOOD], "rows.0.source: 'code' is not in the table `sources`; add it there"),
    "an unknown field": (HEAD, [(*GOOD, ", wraper: true")], "rows.0.wraper: is not a field; remove or rename it"),
    "a number for a text": (HEAD.replace("layer: driver", "layer: 3"), [GOOD], "layer: is 3; allowed are"),
    "no rows": (HEAD.replace("rows:", "row:"), [], "rows: no list of rows"),
    "a short text": (HEAD, [("gone 3", "One")], "rows.0.text: 'gone 3' is too short to tell anything apart; lengthen it or add `near:`"),
    "a wrapper without its mark": (HEAD, [("RuntimeError: NPU function error: ", "One")], "rows.0.text: 'RuntimeError: NPU function error: ' only says that something failed; set `wrapper: true`"),
    "the same text twice": (HEAD, [GOOD, ("Page table is  gone", "Two")], "rows.1.text: 'Page table is  gone' is answered with test-driver.page-table-is-gone first"),
    "what an entry says": (HEAD, [("some failing text", "One")], "rows.0.text: 'some failing text' is answered with known-entry first"),
    "the same title twice": (HEAD, [GOOD, ("page directory is gone", GOOD[1])], "rows.0.en: is the title of test-driver.page-directory-is-gone too"),
    "a pattern of placeholders only": (HEAD, [("<int>", "One")], "rows.0.text: needs a fixed part of at least 2 characters"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_named(fault: str, run: Run, write_rows: Write) -> None:
    head, rows, message = PLANTED[fault]
    problems = found(run, write_rows(*rows, head=head))
    assert any(problem.startswith(message) for problem in problems), problems


def test_a_claim_on_a_good_text_is_named(run: Run, write_rows: Write, own_kb: Path) -> None:
    (own_kb / "goodlogs").mkdir()
    (own_kb / "goodlogs" / "fine.log").write_text("# healthy\npage table is gone, as it should\n", "utf-8")
    _, out, _ = run("check", str(write_rows(GOOD)))
    assert "a good text is answered with test-driver.page-table-is-gone (likely)" in out


def test_a_table_with_a_name_that_is_no_id_is_left_out(run: Run, write_rows: Write) -> None:
    write_rows(GOOD, name="a b\x1b[31m")
    status, out, err = run("why", "--format", "json", "-", stdin="page table is gone\n")
    assert status == 1 and "\x1b" not in out + err and "use lower-case words joined by -" in err


def test_a_folder_of_tables_is_checked_without_being_a_kb_folder(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "signatures"
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text(
        HEAD + ROW.format(text="rack fan QQ is mute", en="Fan", extra=", wraper: 1", next="lines-above"), "utf-8"
    )
    for path in (folder.parent, folder / "site.yaml"):
        status, out, _ = run("check", str(path))
        assert status == 1 and "rows.0.wraper: is not a field" in out


def test_a_bad_row_leaves_the_others(run: Run, write_rows: Write) -> None:
    write_rows(GOOD, ("page directory is gone", "Two", ", severity: fatal"))
    status, out, err = run("why", "--format", "json", "-", stdin="page table is gone\n")
    assert status == 0 and json.loads(out)["matches"][0]["id"] == "test-driver.page-table-is-gone"
    assert "rows.1.severity: is 'fatal'" in err


def test_an_overlay_brings_its_own_table(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "own" / "signatures"
    folder.mkdir(parents=True)
    (folder / "site.yaml").write_text(
        HEAD + ROW.format(text="rack fan QQ is mute", en="Fan", extra="", next="lines-above"), "utf-8"
    )
    _, out, _ = run("why", "--kb", str(folder.parent), "--format", "json", "-", stdin="rack fan QQ is mute\n")
    assert json.loads(out)["matches"][0]["id"] == "site.rack-fan-qq-is-mute"


def test_a_table_from_outside_cannot_run_away(tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    slow = "ab<word>a<word>a<word>a<word>bb"
    path.write_text(HEAD + ROW.format(text=slow, en="Slow", extra="", next="lines-above"), "utf-8")
    table, (problem,) = read_signatures(path)
    assert table is not None and table.rows == {}
    assert (problem.line, problem.field) == (9, "rows.0.text") and problem.message.startswith("can run away")


def test_the_built_in_tables_are_silent_on_good_texts(knowledge: Knowledge) -> None:
    from npu_kb import locations

    texts = good_texts(Path(locations.builtin_kb_directory()))
    assert len(texts) > 400
    claims = [m.entry["id"] for good in texts for m in diagnose(good.text, knowledge, suggest=False).claims]
    assert [id for id in claims if "." in id] == []


def test_an_entry_that_is_nearly_there_comes_before_a_line_that_only_passes_on(
    run: Run, write_rows: Write, write_entry: Write
) -> None:
    write_rows(("stage ended badly", "A stage failed", ", wrapper: true"))
    write_entry(
        "near-entry",
        "- text: the big kernel module wrote outside its buffer",
        hit="the big kernel module wrote outside its buffer",
    )
    assert (
        first(run, "stage ended badly\nRuntimeError: the big kernel modul wrote outside its buffers\n")[0]
        == "near-entry"
    )
    assert first(run, "stage ended badly\nRuntimeError: nothing like it\n")[0] == "test-driver.stage-ended-badly"


def test_a_line_that_an_entry_claims_is_told_once(run: Run, write_rows: Write) -> None:
    write_rows(("some failing text of", "The same line"))
    _, out, _ = run("why", "--format", "json", "-", stdin="some failing text of the driver\n")
    assert [match["id"] for match in json.loads(out)["matches"]] == ["known-entry"]
