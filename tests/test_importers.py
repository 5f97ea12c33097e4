"""Importers: an outside table becomes knowledge that loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npu_kb import locations
from npu_kb.codes.catalogue import read_catalogues

Run = Callable[..., tuple[int, str, str]]
TABLE = """\
ErrorCode,Name,Description,Solution,含义
507901,ACL_ERROR_OURS,"Our own fault, with a comma",Restart the job,我们的故障
507901,ACL_ERROR_TWICE,Stands twice,,
five,BAD,No number,,
507902,EMPTY,,,
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "codes.csv"
    path.write_text(TABLE, "utf-8")
    return path


def test_a_vendor_table_becomes_a_catalogue_that_loads(run: Run, table: Path, tmp_path: Path) -> None:
    status, out, err = run("import", "code-table", str(table), "--family", "acl", "--source", "https://example.org/x")
    folder = tmp_path / "codes"
    folder.mkdir()
    (folder / "ours.yaml").write_text(out, "utf-8")
    (row,) = read_catalogues(folder)
    assert (row["key"], row["symbol"]) == ("507901", "ACL_ERROR_OURS")
    assert row["meaning"] == {"en": "Our own fault, with a comma", "zh": "我们的故障"}
    assert status == 1
    assert f"{table}:4:1: code: 'five' is no acl code" in err
    assert f"{table}:5:1: en: has no meaning" in err


def test_an_unknown_importer_is_named_with_the_ones_there_are(run: Run) -> None:
    status, _, err = run("import", "nonsense")
    assert status == 2 and "there are: ascend-fd, code-table, " in err


def test_a_table_without_codes_is_refused(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    status, _, err = run("import", "code-table", str(path), "--family", "acl")
    assert status == 2 and "name one of them `code`" in err


def imported(run: Run, tmp_path: Path, table: bytes, *options: str) -> tuple[list[dict[str, Any]], str]:
    """The rows that load after an import, and what it says on stderr."""
    (tmp_path / "codes.csv").write_bytes(table)
    _, out, err = run("import", "code-table", str(tmp_path / "codes.csv"), "--family", "acl", *options)
    (tmp_path / "codes").mkdir(exist_ok=True)
    (tmp_path / "codes" / "ours.yaml").write_text(out, "utf-8")
    return read_catalogues(tmp_path / "codes"), err


CHINESE = "错误码,描述,可能原因,处理/fix,备注\n507901,我们的故障,网线松动,重新插拔网线,无\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_a_chinese_table_as_excel_writes_it_is_read(run: Run, tmp_path: Path, encoding: str) -> None:
    (row,), err = imported(run, tmp_path, CHINESE.encode(encoding))
    assert row["meaning"]["zh"] == "我们的故障"
    assert (row["likely"], row["action"]) == ({"zh": "网线松动"}, {"zh": "重新插拔网线"})
    assert "columns not used: 备注" in err and "1 rows have no English meaning" in err


def test_chinese_text_under_an_english_heading_goes_to_the_chinese_field(run: Run, tmp_path: Path) -> None:
    (row,), _ = imported(run, tmp_path, "code,description,text_en,solution\n507901,故障,,重启\n".encode())
    assert row["meaning"]["zh"] == "故障" and row["action"] == {"zh": "重启"}


def test_columns_that_hold_no_text_get_their_type(run: Run, tmp_path: Path) -> None:
    table = (
        b"code;en;wrapper;register;chips\n507901;Our fault;yes;2;910B, 310P\n507902;Other;maybe;;\n507903;Third;;x;\n"
    )
    (row,), err = imported(run, tmp_path, table)
    assert (row["wrapper"], row["register"], row["chips"]) == (True, 2, ["910B", "310P"])
    assert ":3:1: wrapper: 'maybe' is no bool" in err and ":4:1: register: 'x' is no int" in err


def test_what_the_catalogue_would_refuse_is_left_out(run: Run, tmp_path: Path) -> None:
    table = (
        "code,en,rt,handling,family\n507901,Our fault,nonsense,a,hccl\n507902,ok,,,\n507903,A\x7f\u2028 fault,,b,rt\n"
    )
    rows, err = imported(run, tmp_path, table.encode())
    assert [row["meaning"]["en"] for row in rows] == ["A fault"]
    assert "rt: 'nonsense' is no code of family rt" in err and "'ok' is too short" in err
    assert "columns not used: handling, family" in err


def test_codes_that_are_known_are_told(run: Run, tmp_path: Path) -> None:
    table = b"code,en\n507018,Our own meaning\n999901,Our fault\n"
    _, err = imported(run, tmp_path, table)
    assert "1 codes are known already and will be replaced" in err
    rows, err = imported(run, tmp_path, table, "--kb", locations.builtin_kb_directory())
    assert [row["code"] for row in rows] == ["999901"] and "1 known already" in err


@pytest.mark.parametrize("table", [b"", b"\xff", b"code,en\n" + b'"' + b"x" * 200_000, b"\x00\x00,\x81\n"])
def test_a_file_that_is_no_table_is_refused_in_one_line(run: Run, tmp_path: Path, table: bytes) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table)
    status, _, err = run("import", "code-table", str(path), "--family", "acl")
    assert status == 2 and len(err.splitlines()) == 1
