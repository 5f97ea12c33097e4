"""Do published combinations get the judgement that their sources give?"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_kb import Knowledge
from npu_kb.environment.evidence import unsupported
from npu_kb.environment.judge import Judgement, judge
from npu_kb.environment.names import NAMES
from npu_kb.environment.tried import add_tried
from npu_kb.render.judgement import judgement_document, judgement_text

COMBINATIONS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "data" / "combinations.yaml").read_text("utf-8")
)


def _name(row: dict[str, Any]) -> str:
    return " ".join(f"{component}={version}" for component, version in row["versions"].items())


def _pairs(judgements: list[Judgement]) -> dict[str, Judgement]:
    return {" ".join(item.pair): item for item in judgements}


@pytest.mark.parametrize("row", COMBINATIONS, ids=_name)
def test_a_published_combination_is_judged_right(row: dict[str, Any], knowledge: Knowledge) -> None:
    found = judge(row["versions"], row.get("chips", []), {}, knowledge)
    pairs = _pairs(found)
    assert {name: pairs[name].state for name in row["expect"]} == row["expect"]
    wrong = [item for item in found if item.state == "unsupported" and item.pair[0] != "tried"]
    expected = [name for name, state in row["expect"].items() if state == "unsupported"]
    assert [" ".join(item.pair) for item in wrong] == [name for name in pairs if name in expected]
    if "mend" in row:
        assert {name: _target(name, item.mend) for item in wrong for name in row["mend"]} == row["mend"]
        assert all(item.mend and item.mend["en"].count("; ") == len(row["mend"]) - 1 for item in wrong)


def _target(component: str, mend: dict[str, str] | None) -> str:
    """The release to which a mend changes a component."""
    found = re.search(rf"{component} \S+ to (?:that of HDK )?([^\s,;]+\w)", mend["en"] if mend else "")
    return found[1] if found else ""


def _after(versions: dict[str, str], mend: dict[str, str]) -> dict[str, str]:
    """The versions once a mend is carried out."""
    names = {spoken: name for name, spoken in NAMES.items()}
    changes = re.findall(r"(?:Change |; )(\S+) \S+ to (?:that of HDK )?([^\s,;]+\w)", mend["en"])
    assert changes
    return {**versions, **{names[spoken]: version for spoken, version in changes}}


WRONG = [row for row in COMBINATIONS if "unsupported" in row["expect"].values()]


@pytest.mark.parametrize("row", WRONG, ids=_name)
def test_a_mend_makes_the_whole_set_right(row: dict[str, Any], knowledge: Knowledge) -> None:
    chips = row.get("chips", [])
    mend = next(item.mend for item in judge(row["versions"], chips, {}, knowledge) if item.state == "unsupported")
    if mend is None:
        pytest.skip("nothing else is known of the set")
    found = judge(_after(row["versions"], mend), chips, {}, knowledge)
    assert [item.pair for item in found if item.is_fault] == []


STACKS = ("vllm_ascend", "vllm", "torch", "torch_npu", "cann", "triton_ascend")


def test_no_published_row_contradicts_another(knowledge: Knowledge) -> None:
    rows = [*knowledge.matrix("torch_npu"), *knowledge.matrix("vllm_ascend"), *knowledge.matrix("triton_ascend")]
    for row in rows:
        first = {name: row[name] if isinstance(row[name], str) else row[name][0] for name in STACKS if row.get(name)}
        versions = {name: version.replace("X", "0") for name, version in first.items()}
        assert [item for item in judge(versions, [], {}, knowledge) if item.state == "unsupported"] == []


def _state(pair: str, versions: dict[str, str], compatibility: dict[str, Any], knowledge: Knowledge) -> str:
    return _pairs(judge(versions, [], compatibility, knowledge))[pair].state


def _files(driver: str, accepts: str, cann: str, accepted: str) -> dict[str, dict[str, Any]]:
    def listed(labels: str) -> list[str]:
        return [f"V100R001{label}" for label in labels.split()]

    return {
        "driver": {"inner_version": f"V100R001{driver}SPC001B2", "accepts_cann": listed(accepts)},
        "cann": {"inner_version": f"V100R001{cann}SPC001B2", "accepts": listed(accepted)},
    }


@pytest.mark.parametrize(
    ("versions", "files", "state"),
    [
        # a host that ran CANN 8.2.RC1 although its driver does not list C22: CANN lists the driver
        ({"driver": "25.0.rc1.1", "cann": "8.2.RC1"}, ("C21", "C17 C18 C19 C20 C21", "C22", "C15 C21 C23"), "compatible"),
        # C10 is newer than C25: an old driver does not accept it because 10 is less than 25
        ({"driver": "24.1.rc3", "cann": "9.0.0"}, ("C19", "C17 C18 C19", "C10", "C23 C25 C10"), "unsupported"),
        ({"driver": "26.0.rc1", "cann": "8.5.0"}, ("C10", "C23 C25 C10", "C25", "C21 C23"), "compatible"),
        ({"driver": "99.1.0", "cann": "8.5.0"}, ("C40", "C25", "C25", ""), "compatible"),
        ({"driver": "99.1.0", "cann": "8.5.0"}, ("C40", "C39", "C25", "C23"), "unsupported"),
        ({"driver": "99.1.0", "cann": "8.5.0"}, ("C40", "", "C25", "C23"), "unknown"),
        # the files do not agree, an official table does: it stands, and what is matched stays matched
        ({"driver": "25.5.1", "cann": "8.5.0"}, ("C40", "C39", "C25", "C23"), "matched"),
    ],
)  # fmt: skip
def test_the_machines_files_decide(
    versions: dict[str, str], files: tuple[str, str, str, str], state: str, knowledge: Knowledge
) -> None:
    assert _state("cann driver", versions, _files(*files), knowledge) == state


def test_files_that_contradict_a_table_are_told(knowledge: Knowledge) -> None:
    files = _files("C40", "C39", "C25", "C23")
    found = _pairs(judge({"driver": "25.5.1", "cann": "8.5.0"}, [], files, knowledge))["cann driver"]
    assert "neither driver 25.5.1 nor CANN 8.5.0 accepts the other" in found.reason["en"]
    assert "25.5.1 (recommended)" in found.reason["en"]


def test_the_files_count_only_for_the_versions_that_are_installed(knowledge: Knowledge) -> None:
    files = _files("C21", "C17", "C22", "C21")
    wrong = {"torch": "2.9.0", "torch_npu": "2.1.0.post13", "cann": "8.2.RC1", "driver": "25.0.rc1.1"}
    mend = next(item.mend for item in judge(wrong, [], files, knowledge) if item.mend)
    assert "driver" not in mend["en"]


@pytest.mark.parametrize(
    ("versions", "compatibility", "state"),
    [
        ({"driver": "25.2.0", "firmware": "7.7.0.6.236"}, {"npu": {"driver_firmware": "OK"}}, "matched"),
        ({"driver": "25.2.0", "firmware": "7.7.0.6.236"}, {}, "unknown"),
        ({"driver": "25.2.0", "firmware": "7.1.0.6.236"}, {"npu": {"driver_firmware": "OK"}}, "compatible"),
        ({"driver": "25.0.rc1.1", "firmware": "7.7.0.1.231"}, {"npu": {"driver_firmware": "OK"}}, "matched"),
        ({"driver": "25.0.rc1.1", "firmware": "7.7.0.1.231"}, {"npu": {"driver_firmware": "NOT OK"}}, "unsupported"),
        ({"driver": "77.1.0", "firmware": "8.1.0"}, {"driver": {"accepts_firmware": [["7.0.0", "8.9.9"]]}}, "matched"),
        ({"driver": "77.1.0", "firmware": "9.1.0"}, {"driver": {"accepts_firmware": [["7.0.0", "8.9.9"]]}}, "unsupported"),
        ({"driver": "25.0.rc1", "firmware": "7.9.0"}, {"firmware": {"accepts_driver": [["25.0", "25.0."]]}}, "unsupported"),
        ({"driver": "77.0.1", "firmware": "7.9.0"}, {"firmware": {"accepts_driver": [["77.0", "77.0."]]}}, "matched"),
        ({"driver": "78.0.1", "firmware": "7.9.0"}, {"firmware": {"accepts_driver": [["77.0", "77.0."]]}}, "unsupported"),
        ({"driver": "25.5.2", "firmware": "7.5.0.5.220-24.1.0.3"}, {}, "compatible"),
        ({"driver": "77.0.1", "firmware": "6.6.6"}, {}, "unknown"),
    ],
)  # fmt: skip
def test_driver_and_firmware(
    versions: dict[str, str], compatibility: dict[str, Any], state: str, knowledge: Knowledge
) -> None:
    assert _state("driver firmware", versions, compatibility, knowledge) == state


def test_firmware_that_is_accepted_but_far_behind_is_named_with_its_mend(knowledge: Knowledge) -> None:
    found = judge({"driver": "25.3.rc1", "firmware": "7.1.0.11.220"}, [], {}, knowledge)[0]
    assert found.state == "compatible"
    assert found.is_fault
    assert "behind the driver" in found.reason["en"]
    assert found.mend and "HDK 25.3.rc1" in found.mend["en"]


def test_what_is_missing_is_told_with_the_command_that_tells_it(knowledge: Knowledge) -> None:
    pairs = _pairs(judge({"torch_npu": "2.9.0", "cann": "8.5.0"}, [], {}, knowledge))
    assert pairs["cann driver"].found == ("8.5.0", None)
    assert pairs["cann driver"].state == "unknown"
    assert "npu-smi info" in pairs["cann driver"].reason["en"]
    assert "pip list" in pairs["torch_npu torch"].reason["zh"]


def test_contradictions_are_told_where_they_matter(knowledge: Knowledge) -> None:
    stack = {"torch_npu": "2.1.0.post11", "torch": "2.1.0", "cann": "8.2.RC1"}
    pairs = _pairs(judge(stack, [], {}, knowledge))
    assert "Sources differ: ascend-deployer" in pairs["torch_npu cann"].reason["en"]
    assert "来源不一致" in pairs["torch_npu cann"].reason["zh"]
    assert "Sources differ" not in pairs["torch_npu torch"].reason["en"]


@pytest.mark.parametrize(
    ("owner", "chip", "state"),
    [
        ("vllm_ascend", "910B3", "matched"),
        ("vllm_ascend", "Ascend910A", "unsupported"),
        ("vllm_ascend", "310P3", "compatible"),
        ("triton_ascend", "310P", "unsupported"),
        ("triton_ascend", "910_93", "compatible"),
        ("triton_ascend", "910A", "unknown"),
    ],
)
def test_the_chip_counts(owner: str, chip: str, state: str, knowledge: Knowledge) -> None:
    release = {"vllm_ascend": "0.11.0", "triton_ascend": "3.2.0"}[owner]
    found = _pairs(judge({owner: release}, [chip], {}, knowledge))[f"{owner} chip"]
    assert (found.state, found.mend) == (state, None)


def test_the_ledger_comes_first(knowledge: Knowledge) -> None:
    found = judge({"torch_npu": "2.7.1", "torch": "2.7.1", "cann": "9.0.0-beta.2"}, [], {}, knowledge)
    assert found[0].pair == ("tried", "torch_npu 2.7.1 cann 9.0.0-beta.2")
    assert found[0].state == "unsupported"
    assert "MsprofSysCycleTime" in found[0].reason["en"]
    assert found[0].source == "https://github.com/triton-lang/triton-ascend/issues/328"
    assert judgement_document(found)["mends"]
    assert judge({"torch_npu": "2.7.1", "cann": "8.3.RC1"}, [], {}, knowledge)[0].pair[0] != "tried"


_VERSIONS = st.text(max_size=80) | st.from_regex(r"\d{1,2}\.\d{1,2}(\.(\d|rc\d|RC\d|post\d|X))?", fullmatch=True)


@given(
    versions=st.dictionaries(st.sampled_from([*NAMES, "arch", "os", "flux"]), _VERSIONS, max_size=6),
    chips=st.lists(st.text(max_size=12), max_size=2),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_versions_get_an_answer(versions: dict[str, str], chips: list[str], knowledge: Knowledge) -> None:
    for item in judge(versions, chips, {}, knowledge):
        assert item.state in ("matched", "compatible", "unsupported", "unknown")
        assert item.reason["en"] and item.reason["zh"]
        assert item.source or item.state == "unknown"


def test_without_a_matrix_nothing_is_claimed(small_knowledge: Callable[[], Knowledge]) -> None:
    versions = dict.fromkeys(NAMES, "2.1.0") | {"torch": "2.1.0+cpu"}
    found = judge(versions, ["910B"], {}, small_knowledge())
    assert {item.state for item in found} <= {"matched", "compatible", "unknown"}


@pytest.mark.parametrize("lang", ["en", "zh", "both"])
def test_the_text_says_the_sum_the_change_and_every_pair(lang: str, knowledge: Knowledge) -> None:
    found = judge({"torch": "2.0.1", "torch_npu": "2.1.0", "cann": "7.0.0"}, [], {}, knowledge)
    text = " ".join(judgement_text(found, lang, False, 100).split())
    assert ("These versions do not all go together." in text) == (lang != "zh")
    assert ("当前版本组合不完全配套。" in text) == (lang != "en")
    assert "pip install torch==2.1.0" in text
    assert "torch_npu 2.1.0 - CANN 7.0.0" in text


def test_no_escape_sequence_reaches_the_terminal(knowledge: Knowledge) -> None:
    found = judge({"torch": "\x1b[2J", "torch_npu": "2.1.0\x1b]0;x\x07"}, ["\x1b[31m"], {}, knowledge)
    assert "\x1b" not in judgement_text(found, "both", False, 80)


def test_the_document_holds_all_of_it(knowledge: Knowledge) -> None:
    document = judgement_document(judge({"torch": "2.0.1", "torch_npu": "2.1.0"}, [], {}, knowledge))
    assert document["schema"] == "npu-kb/judgement/1"
    assert document["state"] == "unsupported"
    assert document["mends"][0]["en"].startswith("Change torch 2.0.1 to 2.1.0")
    row = document["judgements"][0]
    assert (row["pair"], row["found"], row["state"]) == (["torch_npu", "torch"], ["2.1.0", "2.0.1"], "unsupported")
    assert judgement_document([])["state"] == "none"


def test_triton_beside_a_triton_ascend_that_cannot_bear_it_is_uninstalled(knowledge: Knowledge) -> None:
    versions = {"triton_ascend": "3.2.0", "triton": "3.2.0", "torch": "2.6.0", "cann": "8.5.0"}
    (wrong,) = (item for item in judge(versions, [], {}, knowledge) if item.is_fault)
    assert wrong.pair == ("triton_ascend", "triton") and wrong.state == "unsupported"
    assert wrong.mend and wrong.mend["run"].startswith("pip uninstall -y triton ")


def test_a_python_beyond_the_last_patch_of_the_guide_is_told_why(knowledge: Knowledge) -> None:
    found = _pairs(judge({"cann": "8.3.RC2", "python": "3.11.13"}, [], {}, knowledge))["cann python"]
    assert found.state == "compatible" and "ends within 3.11" in found.reason["en"]
    wrong = judge({"cann": "8.3.RC1", "python": "3.12.0", "mindspore": "2.7.1"}, [], {}, knowledge)
    assert next(item.mend for item in wrong if item.mend)["en"] == "Change Python 3.12.0 to 3.11 (below 3.11.5)."


def test_where_no_source_speaks_none_is_listed(knowledge: Knowledge) -> None:
    found = judge({"triton_ascend": "3.2.2", "python": "3.12.0"}, [], {}, knowledge)
    assert found[0].reason["en"].startswith("No source says") and found[0].source == ""
    assert "Sources" not in judgement_text(found, "en", False, 100)


def _trial(kb: Path, result: str, **versions: str) -> None:
    day = datetime.date(2026, 11, 29)
    fields = {"versions": versions, "workload": "x", "result": result, "by": "a tester", "date": day}
    add_tried(kb, fields)


def test_trials_are_notes_beside_the_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_cache: Path) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(shared_cache))
    for result in ("works", "fails"):
        _trial(tmp_path, result, cann="8.5.0", python="3.12.0")
    alone = {"versions": {"python": "3.12.0"}, "workload": "x", "result": "fails", "by": "me", "date": "2026-11-29"}
    (tmp_path / "matrix" / "tried" / "old.yaml").write_text(yaml.safe_dump(alone))
    found = judge({"cann": "8.5.0", "python": "3.12.0"}, [], {}, Knowledge.load([tmp_path]))
    notes = [item for item in found if item.pair[0] == "tried"]
    assert sorted(item.state for item in notes) == ["matched", "unsupported"]
    assert unsupported(found) == notes
    document = judgement_document([item for item in found if item.pair != ("cann", "driver")])
    assert (document["state"], document["mends"]) == ("matched", [])
    text = " ".join(judgement_text(found, "en", False, 100).split())
    assert "met a failure" in text and "FAILS Ledger" in text and "works Ledger" in text and "UNSUPPORTED" not in text
    assert judgement_document(notes)["state"] == "tried"
