"""The terms that search is made of."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.knowledge.tokens import fold, is_negation, stem, terms

MIXED = st.text(
    st.sampled_from("abcXYZ019 _-./:'显存不足算子超时，。[](){}<>=%#\n\tＡ１％é\U0001f600") | st.characters(),
    max_size=60,
)


def texts(text: str) -> list[str]:
    return [term.text for term in terms(text) if term.kind != "char"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("显存不足", ["显存", "存不", "不足"]),
        ("慢", ["慢"]),
        ("EZ9999", ["=ez9999"]),
        ("0X07020016", ["=0x7020016"]),
        ("507018", ["507018"]),
        ("aclnnInplaceCopy", ["=aclnninplacecopy", "aclnn", "inplac", "copi"]),
        ("HCCL_CONNECT_TIMEOUT", ["=hccl_connect_timeout", "hccl", "connect", "timeout"]),
        ("libascendcl.so", ["=libascendcl.so", "libascendcl", "so"]),
        ("torch-npu", ["=torch_npu", "torchnpu", "torch", "npu"]),
        ("time-out", ["=time_out", "timeout", "tim", "out"]),
        ("DataLoader", ["dataload", "data", "load"]),
        ("is not supported", ["is", "not", "support", "not+support"]),
        ("doesn't work", ["not", "work", "not+work"]),
        ("HCCL超时", ["hccl", "超时"]),
        ("ＯＯＭ", ["oom"]),
        ("", []),
        ("，。！", []),
    ],
)
def test_the_terms_of_a_text(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@pytest.mark.parametrize(
    "words",
    [
        ("compile", "compiles", "compiling", "compiled", "compilation", "compiler"),
        ("initialise", "initialize", "initialising", "initialization", "initialisation"),
        ("allocate", "allocation", "allocator", "allocating"),
        ("memory", "memories"),
        ("process", "processes"),
        ("drop", "dropped", "dropping", "drops"),
        ("time", "times", "timed", "timing"),
        ("connect", "connection", "connecting", "connected"),
    ],
)  # fmt: skip
def test_forms_of_one_word_share_a_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("load", "lost"), ("layer", "lay"), ("hccl", "hccs"), ("class", "clas"), ("use", "us")]
)
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


@pytest.mark.parametrize("spelling", ["torch_npu", "torch-npu", "Torch_NPU", "TORCH-NPU"])
def test_one_code_in_several_spellings_is_one_term(spelling: str) -> None:
    assert texts(spelling)[0] == "=torch_npu"


@pytest.mark.parametrize("word", ["not", "no", "without", "cannot", "can't", "cant", "doesn't", "isnt", "won't"])
def test_negations_are_known(word: str) -> None:
    assert is_negation(word)


@pytest.mark.parametrize("word", ["want", "count", "note", "knot", "important"])
def test_other_words_are_no_negations(word: str) -> None:
    assert not is_negation(word)


@given(MIXED)
def test_every_span_lies_in_the_text_and_in_order(text: str) -> None:
    found = list(terms(text))
    assert all(0 <= term.start < term.end <= len(text) for term in found)
    assert all(one.start <= other.start for one, other in itertools.pairwise(found))


@given(MIXED)
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(MIXED)
def test_terms_hold_no_space_and_are_lower_case(text: str) -> None:
    assert all(term.text and term.text == term.text.lower() and not term.text.split()[1:] for term in terms(text))


@given(st.text("0123456789abcdef", min_size=3, max_size=16))
def test_a_hex_code_is_one_term_however_it_is_written(digits: str) -> None:
    spellings = (f"0x{digits}", f"0X{digits.upper()}", f"0x000{digits}")
    assert len({tuple(texts(spelling)) for spelling in spellings}) == 1


@given(st.text("显存不足算子超时建链", min_size=2, max_size=20))
def test_a_chinese_run_gives_all_its_pairs(run: str) -> None:
    assert texts(run) == [run[i : i + 2] for i in range(len(run) - 1)]


@given(st.lists(st.sampled_from(["hccl", "timeout", "算子", "EZ9999", "torch_npu", "slow"]), max_size=8))
def test_words_apart_give_the_terms_of_each(words: list[str]) -> None:
    assert texts(" ".join(words)) == [text for word in words for text in texts(word)]


@given(st.from_regex(r"[a-z]{1,20}", fullmatch=True))
def test_a_stem_is_never_longer_than_its_word_and_never_empty(word: str) -> None:
    assert 0 < len(stem(word)) <= len(word.replace("is", "iz")) + 1
