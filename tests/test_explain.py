"""`npu-kb explain`: every code prints its meaning; what is unsure, unlisted or unknown says so."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npu_kb.codes.catalogue import read_catalogues
from npu_kb.codes.explain import Explanation, explain, joined_words
from npu_kb.codes.model import CodeTable
from npu_kb.render.codes import explain_command, explanations_text
from npu_kb.render.text import width_of

CODES = Path(__file__).resolve().parents[1] / "kb" / "codes"
ROWS = read_catalogues(CODES)
ENTRY = {
    "id": "aicpu-input",
    "title": {"en": "An AICPU operator rejects its input", "zh": "AICPU 算子拒绝输入"},
}


LINE = {
    "id": "mindie-llm.mie05e010006",
    "title": {"en": "The input of a request is too long", "zh": "请求输入过长"},
    "cause": {"en": "More tokens than maxInputTokenLen.", "zh": "token 数超过 maxInputTokenLen。"},
    "fix": [{"en": "Shorten the prompt.", "zh": "缩短输入。", "effect": "read"}],
    "match": [{"text": ["MIE05E010006"]}],
}


CONDITIONS: dict[str, list[str]] = {"text": ["507018"], "regex": [], "code": [], "fact": [], "any": [], "none": []}


class Store(CodeTable):
    """The catalogues, an entry that concerns 507018, and a one-line fault that prints MIE05E010006."""

    def entries_for_code(self, family: str, key: str) -> Sequence[dict[str, Any]]:
        return [{**ENTRY, "status": "confirmed", "match": [CONDITIONS]}] if (family, key) == ("acl", "507018") else []

    def signatures_with(self, words: Sequence[str]) -> Sequence[dict[str, Any]]:
        return [LINE] if "mie05e010006" in [word.lower() for word in words] else []


STORE = Store(ROWS)


def answer(*words: str, lang: str = "en", fmt: str = "text", colour: bool = False) -> str:
    return explain_command(list(words), STORE, lang, fmt, colour)[0]


def status(*words: str, fmt: str = "text") -> int:
    return explain_command(list(words), STORE, "en", fmt, False)[1]


def one(word: str) -> Explanation:
    (explanation,) = explain([word], STORE)
    return explanation


def plain(text: str) -> str:
    """The text without line breaks and spaces, so that wrapping does not matter."""
    return re.sub(r"\s+", "", text)


def test_every_code_of_every_catalogue_prints_its_meaning_in_both_languages() -> None:
    silent = []
    for row in ROWS:
        text, code = explain_command([row["code"]], STORE, "both", "text", False)
        if code != 0 or any(plain(meaning) not in plain(text) for meaning in row["meaning"].values()):
            silent.append((row["family"], row["code"]))
    assert silent == []


def test_every_symbol_prints_its_meaning() -> None:
    sample = [row for row in ROWS if "_" in row.get("symbol", "") and row["family"] in ("acl", "hccl", "drv", "dcmi")]
    silent = [row["symbol"] for row in sample[::7] if plain(row["meaning"]["en"]) not in plain(answer(row["symbol"]))]
    assert silent == []


@pytest.mark.parametrize(
    "words",
    [["0x7020016"], ["0x07020016"], ["117571606"], ["retCode=0x7020016"], ["RT_ERROR_DRV_OUT_MEMORY"]],
)
def test_spellings_of_one_code_give_one_answer(words: list[str]) -> None:
    assert answer(*words) == answer("0x7020016")


@pytest.mark.parametrize(("word", "other"), [("80e01801", "0x80E01801"), ("0xFFFFE0AC", "-8020"), ("ei0006", "EI0006")])
def test_case_prefix_and_sign_do_not_matter(word: str, other: str) -> None:
    assert answer(word) == answer(other)


def test_a_runtime_code_names_the_acl_code_that_it_becomes() -> None:
    expected = "See also 207001 ACL_ERROR_RT_MEMORY_ALLOCATION (acl): Memory allocation failed."
    assert plain(expected) in plain(answer("0x7020016"))


def test_the_driver_result_names_the_runtime_code_that_it_becomes() -> None:
    assert [row["code"] for row in one("drvRetCode=17").findings[0].related] == ["0x7020022"]


def test_a_wrapper_says_that_it_is_one() -> None:
    assert "Wrapper    says only that something failed" in answer("EZ9999")
    assert "外层码" in answer("ERR00100", lang="zh")
    assert "Wrapper" not in answer("EI0006")


def test_entries_that_concern_the_code_are_named() -> None:
    assert "Entries    aicpu-input: An AICPU operator rejects its input" in answer("507018")
    assert one("507018").findings[0].entries == (ENTRY,)


def test_a_small_number_lists_every_family_that_it_could_belong_to() -> None:
    text = answer("17")
    assert text.startswith("17: The number alone fits several families:\n")
    families = [(finding.family, finding.sure) for finding in one("17").findings]
    assert families == [("drv", "possible"), ("hccl", "possible"), ("ts", "possible"), ("aicore", "possible")]


def test_a_label_makes_the_family_certain() -> None:
    assert [(f.family, f.key, f.sure) for f in one("hcclRet -> 4").findings] == [("hccl", "4", "certain")]


def test_words_of_one_label_are_put_together() -> None:
    assert joined_words(["hcclRet", "->", "4", "EI0006"]) == ["hcclRet -> 4", "EI0006"]
    assert joined_words(["errcode:(0x1,", "0,", "0)", "17"]) == ["errcode:(0x1, 0, 0)", "17"]
    assert answer("hcclRet", "->", "4") == answer("hcclRet -> 4")


def test_registers_are_explained_bit_by_bit() -> None:
    findings = one("errcode:(0x800001, 0, 0x100000000)").findings
    assert [finding.key for finding in findings] == ["0x1", "0x800000", "0x100000000@reg2"]


def test_a_prefix_lists_its_family() -> None:
    explanation = one("EI")
    assert not explanation.findings
    assert {row["code"][:2] for row in explanation.listing} == {"EI"}
    assert "EI: 21 codes start so" in answer("EI")
    assert [row["code"] for row in one("80E01").listing] == ["0x80E01801", "0x80E01805", "0x80E01809"]
    assert {row["family"] for row in one("5070").listing} == {"acl"}
    assert [row["code"] for row in one("HCCL_E_").listing][:2] == ["1", "2"]


def test_a_long_listing_is_cut_and_says_so() -> None:
    text = answer("8F1")
    assert len(text.splitlines()) < 70
    assert "more; give a longer prefix" in text


def test_an_unlisted_device_event_is_read_from_its_bits() -> None:
    (finding,) = [finding for finding in one("0x80E1800B").findings if finding.family == "device"]
    assert finding.row is None
    assert finding.layout is not None
    assert (finding.layout["component"], finding.layout["kind"], finding.layout["state"]) == ("HBM", "RAS", 11)
    assert "component HBM" in answer("0x80E1800B")
    assert "部件 HBM" in answer("0x80E1800B", lang="zh")


def test_a_recovery_event_names_the_fault_that_it_ends() -> None:
    (finding,) = one("0x94025081").findings
    assert [row["code"] for row in finding.related] == ["0xA4025081"]
    assert "recovery event" in answer("0x94025081")


def test_an_environment_variable_is_explained() -> None:
    text = answer("hccl_connect_timeout")
    assert "Values     120-7200 (s)" in text
    assert "https://" in text


def test_an_unlisted_code_is_unknown_and_near_spellings_are_shown() -> None:
    text, code = explain_command(["EI0099"], STORE, "en", "text", False)
    assert code == 1
    assert "EI0099 (cann): has the form of a code, but no catalogue lists it" in text
    assert "EI0009" in text


def test_the_exit_status_says_whether_anything_is_known() -> None:
    assert status("507018") == 0
    assert status("foo") == 1
    assert status("foo", "EI0006") == 0
    assert status() == 2
    assert status(" ") == 2
    assert status("507018", fmt="xml") == 2
    assert "give a code" in answer()


def test_the_language_is_chosen() -> None:
    assert "AICPU 算子执行异常" in answer("507018", lang="zh")
    assert "AICPU kernel raised" not in answer("507018", lang="zh")
    assert "算子" not in answer("EZ9999", lang="en")
    both = answer("507018", lang="both")
    assert both.index("AICPU kernel raised") < both.index("AICPU 算子执行异常")


def test_meanings_without_a_translation_are_shown_in_english() -> None:
    assert "No error bit set in the three registers" in answer("errcode:(0x0, 0, 0)", lang="zh")


@pytest.mark.parametrize("lang", ["en", "zh", "both"])
def test_lines_keep_to_80_columns_except_addresses(lang: str) -> None:
    words = [row["code"] for row in ROWS[::5]] + ["EI", "17", "0x8F", "EI0099", "0x80E1800B", "0x94025081", "x" * 300]
    for explanation in explain(words, STORE):
        for line in explanations_text([explanation], lang, False).splitlines():
            assert width_of(line) <= 80 or "https://" in line


def test_colour_is_used_only_where_it_is_wanted() -> None:
    assert "\x1b[" in answer("507018", colour=True)
    assert "\x1b" not in answer("507018")
    stripped = re.sub(r"\x1b\[[0-9;]*m", "", answer("507018", "EZ9999", "17", "EI", colour=True))
    assert stripped == answer("507018", "EZ9999", "17", "EI")


@pytest.mark.parametrize(
    "word", ["\x1b[31mred", "\x1b]0;title\x07", "EI0006\x1b[2J", "a\u202eb", "507018\r\n", "\x9b31m"]
)
def test_no_escape_character_of_the_input_reaches_the_terminal(word: str) -> None:
    for lang in ("en", "zh"):
        text = answer(word, lang=lang)
        assert not any(character in text for character in "\x1b\x07\x9b\u202e\r")
    document = answer(word, fmt="json")
    assert not any(character in document for character in "\x1b\x07\r")


def test_the_json_form_holds_what_the_text_shows() -> None:
    document = json.loads(answer("507018", "0x7020016", "EI", "foo", fmt="json"))
    assert document["schema"] == "npu-kb/explain/1"
    first, second, third, fourth = document["words"]
    (code,) = first["codes"]
    assert (code["family"], code["code"], code["symbol"]) == ("acl", "507018", "ACL_ERROR_RT_AICPU_EXCEPTION")
    assert (code["sure"], code["listed"], code["wrapper"]) == ("certain", True, False)
    assert set(code["meaning"]) == {"en", "zh"}
    assert code["entries"] == [ENTRY]
    assert second["codes"][0]["related"][0]["code"] == "207001"
    assert third["listing"][0]["code"] == "EI0001"
    assert fourth == {
        "word": "foo",
        "found": False,
        "codes": [],
        "listing": [],
        "unlisted": [],
        "near": [],
        "lines": [],
    }


@settings(database=None, deadline=None, max_examples=60)
@given(st.lists(st.text(max_size=12), max_size=3), st.sampled_from(["text", "json"]))
def test_any_words_get_an_answer(words: list[str], fmt: str) -> None:
    text, code = explain_command(words, STORE, "both", fmt, False)
    assert code in (0, 1, 2)
    assert text.endswith("\n")
    assert fmt == "text" or code == 2 or json.loads(text)


def test_a_code_that_only_a_line_prints_is_explained_by_that_line() -> None:
    assert answer("MIE05E010006") == (
        "mindie-llm.mie05e010006\n"
        "  The input of a request is too long\n"
        "  Likely     More tokens than maxInputTokenLen.\n"
        "  Do         Shorten the prompt.\n"
    )
    assert status("MIE05E010006") == 0
    (word,) = json.loads(answer("MIE05E010006", fmt="json"))["words"]
    assert word["found"] and word["lines"] == [{name: LINE[name] for name in ("id", "title", "cause", "fix")}]


def test_a_piece_of_a_printed_word_is_not_explained_by_it() -> None:
    assert status("MIE05E01000") == 1
