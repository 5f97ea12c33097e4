"""Importers of tables, pages, rules and dumps: what stands in a file of each real format ends in the right field."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from npu_kb.codes.catalogue import read_catalogues

Run = Callable[..., tuple[int, str, str]]
DATA = Path(__file__).parent / "data" / "importers"


@pytest.fixture
def imported(run: Run, tmp_path: Path) -> Callable[..., tuple[dict[str, dict[str, Any]], str, str]]:
    """Run an importer on a file: (drafts by their first words, stdout, stderr)."""

    def call(importer: str, path: Path, *options: str) -> tuple[dict[str, dict[str, Any]], str, str]:
        _, out, err = run("import", importer, str(path), "--out", str(tmp_path / "out"), *options)
        loaded = [yaml.safe_load(path.read_text("utf-8")) for path in sorted((tmp_path / "out").glob("*.yaml"))]
        return {next(iter(draft["title"].values())): draft for draft in loaded}, out, err

    return call


Imported = Callable[..., tuple[dict[str, dict[str, Any]], str, str]]


def test_the_columns_of_a_table_become_fields(imported: Imported) -> None:
    drafts, out, err = imported("spreadsheet", DATA / "faults.csv")
    draft = drafts["KV 租约到期"]
    assert draft["title"] == {"zh": "KV 租约到期"} and draft["symptom"] == {"zh": "推理中途断连"}
    assert draft["cause"] == {"en": "The lease was not renewed", "zh": "租约未续"}
    assert draft["fix"] == [{"zh": "调大 KV_LEASE_SECONDS"}, {"zh": "重启 decode 节点"}]
    assert (draft["layer"], draft["topic"], draft["severity"]) == ("serving", "pd-disaggregation", "fault")
    assert draft["samples"]["hit"] == ["[ERROR] KvLeaseError: lease 41 of <ip> expired after 30 s"]
    assert draft["references"][0]["url"] == "https://example.org/kv/lease" and draft["author"] == "李工"
    assert f"{DATA / 'faults.csv'}:5:1: names no fault; fill its title, symptom or error" in err
    assert out.startswith("1 draft\n1 left out: imported before, or given twice\n1 left out: faulty")


def workbook(path: Path, sheets: dict[str, list[list[object]]]) -> Path:
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_all_sheets_of_a_workbook_that_tell_faults_are_read(imported: Imported, tmp_path: Path) -> None:
    rows = {
        "notes": [["who", "when"], ["me", "today"]],
        "faults": [[None, None], ["title", "报错", "原因"], ["Lost plug", "KvPlugError: plug 7 is lost", "振动"]],
        "more": [["error", "cause"], ["KvWireError: wire is cut", 507018.0], [None, None], [None, "x"]],
    }
    drafts, _, err = imported("spreadsheet", workbook(tmp_path / "f.xlsx", rows))
    assert drafts["Lost plug"]["references"][0]["source"] == "f.xlsx, faults, row 3"
    assert drafts["KvWireError: wire is cut"]["cause"] == {"en": "507018"}
    assert "f.xlsx:4:1: more: names no fault" in err


def test_a_table_without_faults_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    status, _, err = run("import", "spreadsheet", str(tmp_path / "x.csv"), "--dry-run")
    assert status == 2 and "no columns tell faults; name them title, symptom, error, cause, fix" in err


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 broken", b"\xd0\xcf\x11\xe0 an old .xls"])
def test_a_broken_workbook_is_refused_in_one_line(run: Run, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.xlsx").write_bytes(data)
    status, _, err = run("import", "spreadsheet", str(tmp_path / "x.xlsx"), "--dry-run")
    assert status == 2 and "is no workbook; save it as .xlsx or .csv" in err and len(err.splitlines()) == 1


def test_a_workbook_that_unpacks_to_too_much_is_refused(run: Run, tmp_path: Path) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "x.xlsx", "w", zipfile.ZIP_DEFLATED) as file, file.open("xl/a.xml", "w") as part:
        for _ in range(201):
            part.write(b" " * 1_000_000)
    status, _, err = run("import", "spreadsheet", str(tmp_path / "x.xlsx"), "--dry-run")
    assert status == 2 and "when unpacked; split it" in err


def test_a_workbook_that_claims_to_be_huge_is_read_by_what_it_holds(imported: Imported, tmp_path: Path) -> None:
    import zipfile

    plain = workbook(tmp_path / "plain.xlsx", {"faults": [["error", "cause"], ["KvPlugError: plug 7 is lost", "x y"]]})
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(tmp_path / "x.xlsx", "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"'))
    assert [*imported("spreadsheet", tmp_path / "x.xlsx")[0]] == ["KvPlugError: plug 7 is lost"]


def test_a_code_table_is_read_from_html_with_cells_that_span_rows(run: Run, tmp_path: Path) -> None:
    status, out, err = run("import", "code-table", str(DATA / "codes.html"), "--family", "acl")
    (tmp_path / "codes").mkdir()
    (tmp_path / "codes" / "ours.yaml").write_text(out, "utf-8")
    rows = {row["code"]: row for row in read_catalogues(tmp_path / "codes")}
    assert (
        rows["507951"]["meaning"]["zh"] == "KV 池 租约到期" and rows["507952"]["meaning"]["zh"] == "KV 池 <租约> 被收回"
    )
    assert rows["507951"]["likely"] == rows["507952"]["likely"] == {"zh": "网络中断 或续约太慢"}
    assert (rows["507951"]["action"], rows["507952"]["action"]) == ({"zh": "检查网络"}, {"zh": "重启任务"})
    assert status == 1 and ":10:1: code: 'none' is no acl code" in err


def test_a_code_table_is_read_from_a_workbook(run: Run, tmp_path: Path) -> None:
    path = workbook(tmp_path / "c.xlsx", {"codes": [["code", "meaning"], [507951.0, "Lease expired"]]})
    status, out, _ = run("import", "code-table", str(path), "--family", "acl")
    assert status == 0 and 'code: "507951", en: "Lease expired"' in out


def test_the_questions_of_a_page_become_drafts(imported: Imported) -> None:
    drafts, out, err = imported("markdown-faq", DATA / "faq.md", "--source", "https://example.org/faq")
    draft = drafts["Why does the prefill node report a stale epoch?"]
    assert draft["symptom"] == {"zh": "decode 节点启动后立刻报错退出。"}
    assert draft["cause"] == {"zh": "prefill 节点先于 decode 节点升级，两侧的 epoch 不一致。"}
    assert [fix["zh"] for fix in draft["fix"]] == [
        "停掉 decode 节点。",
        "升级后先启动 prefill 节点，再启动 decode 节点。",
    ]
    assert draft["samples"]["hit"] == ["KvEpochError: epoch 17 of pool kv-main is behind epoch 18"]
    assert draft["references"][0]["url"] == "https://example.org/faq"
    assert drafts["KvShardError: shard 3 is missing"]["fix"] == [{"zh": "重新下载分片\n并校验大小"}]
    assert drafts["How do I set the port?"]["fix"] == [{"en": "Set KV_PORT in the start script."}]
    assert out.startswith("4 drafts\n1 left out: faulty") and "Serving FAQ" not in drafts
    assert f"{DATA / 'faq.md'}:36:1: names no fault" in err


@pytest.mark.parametrize(
    "text",
    [
        "# Lost again?\n\n**Cause:** too old\n\n**Solution:**\n\n- update\n",
        "# Lost again?\n\nCause: too old\n\nSolution: update\n",
        "# Lost again?\n\n## 1. Root cause\n\ntoo old\n\n## 2. How to fix?\n\nupdate\n",
        "# Lost again?\n\n#### 🔧 Cause\ntoo old\n##### Solution\nupdate\n",
    ],
)
def test_parts_are_named_by_headings_and_labels(imported: Imported, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.md").write_text(text, "utf-8")
    drafts, _, _ = imported("markdown-faq", tmp_path / "x.md")
    assert (drafts["Lost again?"]["cause"], drafts["Lost again?"]["fix"]) == ({"en": "too old"}, [{"en": "update"}])


def test_program_text_that_is_not_fenced_is_kept_as_it_is(imported: Imported, tmp_path: Path) -> None:
    line = "KvInitError: __init__ of <module> [pool](1) **failed**"
    (tmp_path / "x.md").write_text(f"# It fails\n\nSince today:\n{line}\nWhat now?\n", "utf-8")
    drafts, _, _ = imported("markdown-faq", tmp_path / "x.md")
    assert drafts["It fails"]["samples"]["hit"] == [line]


def test_fault_entities_become_drafts_in_both_languages(imported: Imported) -> None:
    drafts, out, err = imported("ascend-fd", DATA / "ascend-fd-entity.json")
    draft = drafts["Lease of the KV pool expired"]
    assert draft["title"]["zh"] == "KV 池租约到期" and draft["cause"]["zh"].startswith("decode 节点没有按时续约")
    assert draft["fix"][1] == {"en": "Raise KV_LEASE_SECONDS.", "zh": "调大 KV_LEASE_SECONDS。"}
    assert draft["match"] == [
        {"text": ["pool lease", "was taken back"], "within": 10, "proves": "possible"},
        {"text": ["KvLeaseError"], "proves": "possible"},
    ]
    assert draft["references"][0]["source"] == "ascend-fd-entity.json, fault code 41001"
    assert ":35:1: 41003: has no name; fill attribute.cause_zh or attribute.cause_en" in err
    assert "1 left out: the knowledge names their cause" in out


def test_the_file_that_the_tool_keeps_is_read_too(imported: Imported, tmp_path: Path) -> None:
    kept = {
        "attribute": {"cause_zh": "插头松动", "suggestion_zh": "插紧"},
        "regex": {"in": ["KvPlugError", "loose plug"]},
    }
    (tmp_path / "kg.json").write_text(json.dumps({"knowledge-repository": {"X1": kept}}), "utf-8")
    drafts, _, _ = imported("ascend-fd", tmp_path / "kg.json")
    assert drafts["插头松动"]["match"][0]["text"] == ["KvPlugError", "loose plug"]


def test_rules_become_drafts_and_are_not_run(imported: Imported) -> None:
    drafts, _, err = imported("troubleshooter", DATA / "kv_exp_lib.py")
    draft = drafts["KV 分片文件缺失"]
    assert draft["match"] == [{"text": ["shard<*>of pool<*>is missing"], "proves": "possible"}]
    assert draft["cause"] == {"zh": "分片文件没有下载完；或者路径写错"}
    assert [fix["zh"] for fix in draft["fix"]] == ["检查分片文件是否完整.", "重新下载"]
    assert drafts["KV 错误码"]["match"] == [{"regex": [r"errNo\[0x000000000(4|5)010001\]"], "proves": "possible"}]
    assert "is no plain map of texts; write its values out" in err and "Fault Name: is missing; name the fault" in err


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n", "\0", "(" * 5_000], ids=["syntax", "no list", "NUL", "deep"])
def test_a_file_without_rules_is_refused_in_one_line(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.py").write_text(text, "utf-8")
    status, _, err = run("import", "troubleshooter", str(tmp_path / "x.py"), "--dry-run")
    assert status == 2 and len(err.splitlines()) == 1


def test_a_dump_becomes_a_redacted_snapshot(run: Run) -> None:
    status, out, _ = run("import", "msprechecker", str(DATA / "msprechecker-dump.json"))
    snapshot = json.loads(out)
    assert status == 0 and snapshot["schema"] == "npu-kb/snapshot/1" and snapshot["taken"] == "2026-08-01 10:00:00"
    assert {name: version["version"] for name, version in snapshot["versions"].items()} == {
        "driver": "24.1.0", "cann": "8.2.RC1", "python": "3.11.6", "torch": "2.7.1", "torch_npu": "2.7.1",
    }  # fmt: skip
    assert snapshot["environment"]["HCCL_BUFFSIZE"] == "200" and snapshot["environment"]["API_TOKEN"] == "<secret>"
    facts = {fact["name"]: fact["value"] for fact in snapshot["facts"]}
    assert facts["system.machine"] == "aarch64" and facts["system.virtual_machine"] == "no"
    assert snapshot["files"]["mies config"]["ServeConfig"] == {"ip": "<ip>", "port": 1025, "password": "<secret>"}
    assert not any(secret in out for secret in ("blade-7f", "10.20.30.40", "alice", "s3cretValue99", "hunter2x"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"env": 1}', "{" * 10_000], ids=["empty", "list", "nothing", "type", "deep"]
)
def test_what_is_no_dump_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "x.json").write_text(text)
    status, out, err = run("import", "msprechecker", str(tmp_path / "x.json"))
    assert (status, out) == (2, "") and len(err.splitlines()) == 1
