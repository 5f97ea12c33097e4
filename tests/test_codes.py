"""Error codes: the catalogues, their recognition in pastes, and what a spelling can mean."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_kb import Knowledge
from npu_kb.codes.catalogue import read_catalogues
from npu_kb.codes.mentions import find_codes
from npu_kb.codes.model import FAMILIES, CodeRow, CodeTable
from npu_kb.codes.readings import interpret
from npu_kb.codes.spelling import aicore_bits, code_key, device_layout, normal_key
from npu_kb.errors import KnowledgeError

CODES = Path(__file__).resolve().parents[1] / "kb" / "codes"


@pytest.fixture(scope="module")
def rows() -> list[CodeRow]:
    return read_catalogues(CODES)


@pytest.fixture(scope="module")
def table(rows: list[CodeRow]) -> CodeTable:
    return CodeTable(rows)


def found(text: str, lookup: CodeTable | None = None) -> set[tuple[str, str]]:
    return {(mention.family, mention.key) for mention in find_codes(text, lookup)}


def meant(word: str) -> dict[tuple[str, str], str]:
    return {(reading.family, reading.key): reading.sure for reading in interpret(word)}


# --- catalogues ---


def test_the_catalogues_hold_every_family(rows: list[CodeRow]) -> None:
    assert {row["family"] for row in rows} == set(FAMILIES)
    assert len(rows) > 3300


def test_every_row_is_json_with_a_normal_key_and_a_meaning(rows: list[CodeRow]) -> None:
    assert json.loads(json.dumps(rows)) == rows
    for row in rows:
        assert normal_key(row["family"], row["code"]) == row["key"], row
        assert row["meaning"]["en"].strip(), row
        assert row["family"] == "env" or row["source"], row


def test_every_code_that_another_turns_into_is_listed(rows: list[CodeRow], table: CodeTable) -> None:
    pairs = [(family, row[family]) for row in rows for family in ("acl", "rt") if family in row]
    assert len(pairs) > 600
    assert [pair for pair in pairs if table.lookup(*pair) is None] == []


def test_the_codes_that_people_meet_most_have_a_chinese_meaning(rows: list[CodeRow]) -> None:
    families = ("acl", "aclnn", "hccl", "ge", "torch_npu", "drv", "dcmi")
    prefixes = ("EI", "EJ", "EL", "EE1", "EZ")
    common = [r for r in rows if r["family"] in families or (r["family"] == "cann" and r["code"].startswith(prefixes))]
    assert [row["code"] for row in common if not row["meaning"].get("zh")] == []


@pytest.mark.parametrize("code", ["EZ9999", "EE9999", "EE8888", "EI9999", "E19999", "ERR00100", "ERR02200", "ERR01300"])
def test_wrappers_are_marked(code: str, table: CodeTable) -> None:
    row = table.lookup("torch_npu" if code.startswith("ERR") else "cann", code)
    assert row is not None
    assert row["wrapper"] is True


@pytest.mark.parametrize("code", ["EI0006", "EZ1001", "ERR00005"])
def test_codes_that_say_something_are_no_wrappers(code: str, table: CodeTable) -> None:
    row = table.lookup("torch_npu" if code.startswith("ERR") else "cann", code)
    assert row is not None
    assert row["wrapper"] is False


def test_the_handling_level_of_a_device_event_says_what_to_do(table: CodeTable) -> None:
    row = table.lookup("device", "0x80E18402")
    assert row is not None
    assert row["handling"] == "SeparateNPU"
    assert set(row["action"]) == {"en", "zh"}


HEAD = "family: acl\nhandling:\n  Wait: {en: Wait., zh: 等待。}\nrows:\n"


@pytest.mark.parametrize(
    ("row", "column", "field", "mend"),
    [
        ("{code: 507018, en: Bad}", 10, "code", 'put it in quotes: code: "507018"'),
        ('{code: "507018"}', 3, "en", "missing; add en"),
        ('{code: "507018", en: Bad, meening: x}', 38, "meening", "unknown field"),
        ('{code: "507018", en: Bad, likly: x}', 36, "likly", "did you mean likely?"),
        ('{code: "0x80E01801", en: Bad}', 10, "code", "does not look like a code of family acl"),
        ('{code: "1", family: cuda, en: Bad}', 23, "family", "is no family; use one of acl, aclnn"),
        ('{code: "1", en: Bad, wrapper: "yes"}', 33, "wrapper", "wrong kind of value"),
        ('{code: "1", en: Bad, handling: Pray}', 34, "handling", "not in the file's handling table; add it there"),
        ('{code: "1", en: " "}', 19, "en", "empty; leave the field out"),
        ('{code: "1", en: Bad, acl: EZ9999}', 29, "acl", "is no code of family acl"),
        ("just words", 3, "code", "not a mapping"),
    ],
)
def test_a_bad_row_is_named_with_place_and_mend(tmp_path: Path, row: str, column: int, field: str, mend: str) -> None:
    (tmp_path / "acl.yaml").write_text(f"{HEAD}- {row}\n", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        read_catalogues(tmp_path)
    problem = str(caught.value.problems[0])
    assert problem.startswith(f"{tmp_path / 'acl.yaml'}:5:{column}: rows.0.{field}: ")
    assert mend in problem


def test_all_bad_rows_are_reported_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text('family: acl\nrows:\n- {code: 1, en: a}\n- {code: "2"}\n', encoding="utf-8")
    (tmp_path / "b.yaml").write_text("family: [\n", encoding="utf-8")
    (tmp_path / "c.yaml").write_text("family: acl\n", encoding="utf-8")
    with pytest.raises(KnowledgeError) as caught:
        read_catalogues(tmp_path)
    assert [problem.path.name for problem in caught.value.problems] == ["a.yaml", "a.yaml", "b.yaml", "c.yaml"]


def test_a_code_that_stands_twice_is_reported_even_in_another_spelling(tmp_path: Path) -> None:
    text = 'family: rt\nrows:\n- {code: "0x7020016", en: a}\n- {code: "117571606", en: b}\n'
    (tmp_path / "rt.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=r"rt\.yaml:4:10: rows\.1\.code: 117571606 stands already in rt\.yaml"):
        read_catalogues(tmp_path)


def test_the_compiled_knowledge_answers_like_the_table(knowledge: Knowledge, table: CodeTable) -> None:
    assert knowledge.lookup("acl", "507018") == table.lookup("acl", "507018")
    assert knowledge.lookup("acl", "999999") is None
    for prefix in ("EI", "5070", "hccl_e_", "ACL_ERROR_RT_AICPU", "0x80e0", "%", "_"):
        assert sorted(map(str, knowledge.with_prefix(prefix))) == sorted(map(str, table.with_prefix(prefix))), prefix


def test_importing_the_module_loads_neither_yaml_nor_pydantic() -> None:
    program = "import sys, npu_kb.codes.mentions; print(sorted({'yaml', 'pydantic', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- spellings ---


@pytest.mark.parametrize(
    ("family", "spellings", "key"),
    [
        ("rt", ["0x7020016", "0x07020016", "0X7020016", "117571606"], "0x7020016"),
        ("device", ["0x80E01801", "80e01801", "0x80e01801", " 80E01801 "], "0x80E01801"),
        ("device", ["[0x00F103B0, 155649, na, na]"], "[0x00f103b0,155649,na,na]"),
        ("dcmi", ["-8020", "0xFFFFE0AC", "4294959276", "8020"], "-8020"),
        ("ts", ["0x2a", "0x2A", "42"], "0x2A"),
        ("ge", ["1343266818", "0x5010A002", "0x5010a002"], "1343266818"),
        ("ge", ["4294967295", "0xFFFFFFFF"], "4294967295"),
        ("drv", ["17", "0x11", "017"], "17"),
        ("cann", ["ei0006", "EI0006"], "EI0006"),
        ("aicore", ["0x800000", "0x00800000"], "0x800000"),
        ("aicore", ["0x80@reg1"], "0x80@reg1"),
        ("aicore", ["95@950", "095@950"], "95@950"),
    ],
)
def test_spellings_of_one_code_have_one_key(family: str, spellings: list[str], key: str) -> None:
    assert {normal_key(family, spelling) for spelling in spellings} == {key}


@pytest.mark.parametrize(
    ("family", "word"),
    [
        ("acl", "EZ9999"),
        ("rt", "-1"),
        ("dcmi", "-7"),
        ("aicore", "0x3"),
        ("device", "0x80E0180"),
        ("hccl", ""),
        ("ge", "1343357000"),
        ("ge", "-1"),
        ("x", "1"),
    ],
)
def test_what_cannot_be_a_code_of_the_family_has_no_normal_key(family: str, word: str) -> None:
    assert normal_key(family, word) is None


def test_a_symbol_is_its_own_key() -> None:
    assert code_key("hccl", "hccl_e_timeout") == "HCCL_E_TIMEOUT"
    assert code_key("rt", "0x07020016") == "0x7020016"


def test_registers_split_into_their_bits() -> None:
    assert aicore_bits(0, 0x800001) == ["0x1", "0x800000"]
    assert aicore_bits(2, 1 << 32) == ["0x100000000@reg2"]
    assert aicore_bits(1, 0) == ["0x0"]


def test_the_layout_of_a_device_event_is_decoded() -> None:
    layout = device_layout("0x80E01801")
    assert layout == {"layout": "dms-event", "side": "device", "node": 0x70, "sensor": 0x0C, "state": 1}
    layout = device_layout("0xA4025081")
    assert layout is not None
    assert (layout["layout"], layout["module"], layout["submodule"], layout["function"]) == ("bbox", 1, 5, 0x81)
    assert device_layout("200001006") is None


# --- codes in a text ---

CANONICAL = {
    "acl": "call aclrtSynchronizeStream failed, error code is {}",
    "aclnn": "call aclnnMatmul failed, detail: error code is {}.",
    "rt": "[task_info.cc:1612] streamId=3, retCode={}, [driver error]",
    "ts": "report error from TS, errorCode={}, device_id=0",
    "aicpu": "aicpu kernel execute failed, errCode={} opname=Sort",
    "cann": "{}: something failed",
    "torch_npu": "[ERROR] rank 3 {} a call failed",
    "hccl": "[hccl_comm.cc:77] call trace: hcclRet -> {}",
    "drv": "halMemAlloc failed, drvRetCode={}, device 0",
    "ge": "[ERROR] GE(77,python):2026-11-02-10:20:30.405.060 [graph_manager.cc:9]88 Build: ErrorNo: {}(failed) [BUILD]",
    "dcmi": "dcmi module initialize failed. ret is {}",
    "device": '{{"fault_code":"{}","npu":3}}',
}


def canonical_text(row: CodeRow) -> str:
    """The row's code as its program would print it."""
    if row["family"] != "aicore":
        return CANONICAL[row["family"]].format(row["code"])
    mask, _, register = row["code"].partition("@")
    if register == "950":
        return f"errcode:({mask}, 0)"
    values = ["0", "0", "0"]
    values[int(register[-1]) if register else 0] = mask
    return f"exception of aicore, errcode:({', '.join(values)}) pc start: 0x12"


def printed_as_errors(rows: list[CodeRow]) -> list[CodeRow]:
    """Rows but those of variables and of code 0, which is success."""
    return [row for row in rows if row["family"] != "env" and row["code"] not in ("0", "0@950")]


def missed_codes(rows: list[CodeRow], lookup: CodeTable | None) -> list[str]:
    """Codes that are not found in their canonical context."""
    printed = printed_as_errors(rows)
    return [r["code"] for r in printed if (r["family"], r["key"]) not in found(canonical_text(r), lookup)]


def test_every_code_is_found_where_its_program_prints_it(rows: list[CodeRow], table: CodeTable) -> None:
    missed = [
        r["code"] for r in printed_as_errors(rows) if (r["family"], r["key"]) not in found(canonical_text(r), table)
    ]
    assert missed == []


def test_every_code_is_found_without_a_catalogue_too(rows: list[CodeRow]) -> None:
    assert missed_codes(rows, None) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NPU function error: call aclnnAdd failed, error code is 561002", ("aclnn", "561002")),
        ("The error code is 507018.", ("acl", "507018")),
        ("errorCode:507018", ("acl", "507018")),
        ("507018", ("acl", "507018")),
        ("算子执行失败，错误码：500002，请检查", ("acl", "500002")),
        ("错误码507018", ("acl", "507018")),
        ("3号卡上报故障80E01801", ("device", "0x80E01801")),
        ("with ERROR 161001", ("aclnn", "161001")),
        ("aclrtMalloc returned 200000", ("acl", "200000")),
        ("Communication_Error_Bind_IP_Port(EI0019): [16666] is used", ("cann", "EI0019")),
        ("ErrorCode=EE1001", ("cann", "EE1001")),
        ("E10001: Value [-1] is wrong", ("cann", "E10001")),
        ("EU0077: raised by my own operator", ("cann", "EU0077")),
        ("drvRetCode=117571606!", ("rt", "0x7020016")),
        ("retCode=0x07150050", ("rt", "0x7150050")),
        ("AIC task timeout, errorCode=0x2a", ("ts", "0x2A")),
        ("HCCL(9,python3): [transport.cc:33] errNo[0x0000000005010009] wait failed", ("hccl", "9")),
        ("[Hccl] init failed, ret[4]", ("hccl", "4")),
        ("HcclAllReduce, error code is 9", ("hccl", "9")),
        ("halEschedSubmitEvent failed, ret=62", ("drv", "62")),
        ("dcmi_init: -8005", ("dcmi", "-8005")),
        ("Compile graph failed, error code:1343225857, session_id:0", ("ge", "1343225857")),
        ("[ERROR] HCCL_ADPT(20122): Init plugin so failed, ret = 1343225860", ("ge", "1343225860")),
        ("LinkCluster returned, ret=0x5010b009", ("ge", "1343270921")),
        ("[Initialize][Ge]GEInitialize failed. ge result = 4294967295[FUNC:ReportCallError]", ("ge", "4294967295")),
        ("Error Code : 80e01801", ("device", "0x80E01801")),
        ("alarm [0x00f103b0, 155649, na, na] raised", ("device", "[0x00f103b0,155649,na,na]")),
        (
            "there is an exception of aivec error, core id is 0, error code = 0x800000, dump",
            ("aicore", "0x800000"),
        ),
        ("aicore 3 stopped, error code = 95", ("aicore", "95@950")),
        ("errcode:(0, 0x80, 0)", ("aicore", "0x80@reg1")),
        ("errcode:(0, 0, 0)", ("aicore", "0x0")),
        ("errcode:(95, 320)", ("aicore", "320@950")),
    ],
)
def test_codes_are_found_in_the_forms_that_logs_use(text: str, expected: tuple[str, str], table: CodeTable) -> None:
    assert expected in found(text)
    assert expected in found(text, table) or expected[1] == "EU0077"


@pytest.mark.parametrize(
    "text",
    [
        "200000",
        "saved checkpoint at step 200000",
        "max_steps: 100000, seed 300000",
        "training step 507018 done",
        "background #E65100; color: #E19999",
        "loss 1.507018",
        "task.cpp:507 and stream.cc:507018",
        "[stream.cc:1287]107002 StreamSync: begin",
        "[INFO] RUNTIME(107002,python3):2026-11-02-10:11:12.107.002 [api.cc:12] ok",
        "PID: 107002",
        "10.107.207.50:507 and 192.168.100.107",
        "port 50700, 561 tokens, 207000 samples",
        "version 5.10.107000-generic",
        "Intel Xeon E52680v4, Xeon E5-2680",
        "Epson EP-4000 and a ThinkPad E14",
        "commit 80e01801-4c1d-9c3e and 9a2b4c6d8",
        "BAR at 0xa0000000",
        "hcclRet -> 0",
        "ret=17",
        "ret = 4294967295",
        "result: 50331648",
        "at 1343357000 and 1343270",
        "IMAGE_SIZE, LLM_MODEL and GE_USE_STATIC_MEMORY",
        "[ERROR] HCCL(9,python3): socket connect failed, errno[11], result = 3",
        "errorCode=0",
        "result = 3",
        "wrote 117571607 bytes",
        "2026-11-02 10:20:30-8020",
        "tensor([-8020.5, 3.0])",
        "took 507018 ms",
        "/data/507018/model",
        "rank 4 of 8",
    ],
)
def test_look_alikes_are_no_codes(text: str, table: CodeTable) -> None:
    assert found(text) == set()
    assert found(text, table) == set()


def test_a_catalogue_keeps_unlisted_look_alikes_out(table: CodeTable) -> None:
    assert found("the EP4000 array", table) == set()
    assert found("EI0099 happened", table) == set()
    assert found("EI0099: a code of a newer release", table) == {("cann", "EI0099")}


def test_a_catalogue_adds_listed_codes_that_stand_alone(table: CodeTable) -> None:
    assert found("80E01801 on card 3, then E10001", table) == {("device", "0x80E01801"), ("cann", "E10001")}
    assert found("status 1343266818, then 0x5010A003", table) == {("ge", "1343266818"), ("ge", "1343266819")}
    assert found("epoch 1343266818, offset 0x5010AFFF", table) == set()


def test_names_are_resolved_by_the_catalogue(table: CodeTable) -> None:
    assert found("got HCCL_E_TIMEOUT", table) == {("hccl", "9")}
    assert found("got HCCL_E_TIMEOUT") == {("hccl", "HCCL_E_TIMEOUT")}
    assert found("got HCCL_E_NONSENSE", table) == set()
    assert found("LLMStatusCode.LLM_LINK_FAILED", table) == {("ge", "1343270921")}


def test_several_bits_of_one_register_share_their_place() -> None:
    mentions = find_codes("errcode:(0x800001, 0, 0)")
    assert [(mention.key, mention.spelling) for mention in mentions] == [("0x1", "0x800001"), ("0x800000", "0x800001")]


def test_a_register_of_all_ones_is_not_decoded() -> None:
    assert find_codes("errcode:(0xffffffffffffffff, 0, 0)") == []


def test_mentions_come_in_the_order_of_the_text() -> None:
    mentions = find_codes("EZ9999: Inner Error!\nerror code is 507018\nERR00100 PTA call acl api failed\n")
    assert [mention.code for mention in mentions] == ["EZ9999", "507018", "ERR00100"]


def test_offsets_stay_true_after_letters_that_grow_in_lower_case() -> None:
    text = "İİİ errorCode=0x2a"
    (mention,) = find_codes(text)
    assert text[mention.start : mention.end] == "0x2a"


FRAGMENTS = st.sampled_from(
    [
     "error code is ", "ret=", "hcclRet -> ", "errcode:(", "0x", "507018", "EZ9999", "80e01801", "-8020", ", ", ")",
     "\n", "[0x", "fault_code", "ERR00100", "HCCL_E_", "aicore ", "117571606", "0", "İ", "\x1b[31m", "错误码："]
)  # fmt: skip


@settings(database=None, deadline=None, max_examples=300)
@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=30).map("".join))
def test_any_text_is_read_without_error_and_spans_lie_inside_it(text: str) -> None:
    for mention in find_codes(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.spelling
        assert mention.family in FAMILIES


@settings(database=None, deadline=None, max_examples=300)
@given(st.lists(FRAGMENTS | st.text(max_size=5), max_size=8).map("".join))
def test_any_word_is_interpreted_without_error(word: str) -> None:
    for reading in interpret(word):
        assert reading.family in {*FAMILIES, "symbol", "prefix"}
        assert reading.sure in ("certain", "likely", "possible")


@settings(database=None, deadline=None, max_examples=200)
@given(st.data(), st.text(alphabet="abc xyz,.;\n", max_size=40), st.text(alphabet="abc xyz,.;\n", max_size=40))
def test_codes_are_found_whatever_stands_around_the_line(data: st.DataObject, before: str, after: str) -> None:
    row = data.draw(st.sampled_from(_ROWS))
    assert (row["family"], row["key"]) in found(f"{before}\n{canonical_text(row)}\n{after}")


_ROWS = printed_as_errors(read_catalogues(CODES))


@pytest.mark.parametrize("unit", ["hccl", "errcode:(0,", "ret_", "err", "507018", "0x7", "80e0", "error code is ", "a"])
def test_a_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    program = (
        "import sys, time; from npu_kb.codes.mentions import find_codes\n"
        f"text = {unit!r} * (400_000 // {len(unit)})\n"
        "start = time.process_time(); find_codes(text); assert time.process_time() - start < 5"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


# --- what a word could mean ---


@pytest.mark.parametrize(
    ("word", "family", "key"),
    [
        ("507018", "acl", "507018"),
        ("561103", "aclnn", "561103"),
        ("EZ9999", "cann", "EZ9999"),
        ("ez9999", "cann", "EZ9999"),
        ("E2100C", "cann", "E2100C"),
        ("0x7020016", "rt", "0x7020016"),
        ("0x07020016", "rt", "0x7020016"),
        ("117571606", "rt", "0x7020016"),
        ("ERR00100", "torch_npu", "ERR00100"),
        ("hcclRet -> 4", "hccl", "4"),
        ("drvRetCode=17", "drv", "17"),
        ("-8020", "dcmi", "-8020"),
        ("1343266818", "ge", "1343266818"),
        ("0x5010A002", "ge", "1343266818"),
        ("0xFFFFE0AC", "dcmi", "-8020"),
        ("0x80E01801", "device", "0x80E01801"),
        ("80e01801", "device", "0x80E01801"),
        ("errcode:(0x800000, 0, 0)", "aicore", "0x800000"),
        ("errcode:(95, 320)", "aicore", "320@950"),
        ("95@950", "aicore", "95@950"),
        ("0x80@reg1", "aicore", "0x80@reg1"),
        ("HCCL_E_TIMEOUT", "symbol", "HCCL_E_TIMEOUT"),
        ("`507018`,", "acl", "507018"),
    ],
)
def test_a_word_whose_form_says_its_family_is_certain(word: str, family: str, key: str) -> None:
    assert meant(word)[family, key] == "certain"


def test_a_small_number_could_belong_to_many_families_and_says_so() -> None:
    readings = meant("17")
    assert {("drv", "17"), ("hccl", "17"), ("ts", "0x11"), ("aicore", "17@950")} <= set(readings)
    assert set(readings.values()) == {"possible"}


def test_small_hexadecimal_numbers_are_task_scheduler_codes_first() -> None:
    readings = interpret("0x2a")
    assert (readings[0].family, readings[0].key, readings[0].sure) == ("ts", "0x2A", "likely")
    assert {("drv", "42"), ("aicore", "0x2"), ("aicore", "0x8"), ("aicore", "0x20")} <= set(meant("0x2a"))


def test_a_mask_of_several_bits_is_split() -> None:
    assert {("aicore", "0x800000"), ("aicore", "0x1000000")} <= set(meant("0x1800000"))


@pytest.mark.parametrize("word", ["EI", "5070", "80E0", "ERR02", "foo"])
def test_a_word_that_is_no_whole_code_is_read_as_a_prefix(word: str) -> None:
    assert meant(word)["prefix", word] == "possible"


@pytest.mark.parametrize("word", ["", "  ", "???", "中文", "-1"])
def test_a_word_that_is_no_code_has_no_reading(word: str) -> None:
    assert interpret(word) == []
