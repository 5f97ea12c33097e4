"""Diagnosis: conditions, ranking, verdicts and the disguises of a log, on small knowledge written for the purpose."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npu_kb import Knowledge, diagnose
from npu_kb.diagnosis.scan import Literals
from npu_kb.patterns import squeeze

Write = Callable[..., Path]
Small = Callable[[], Knowledge]


def ids(log: str, knowledge: Knowledge) -> list[str]:
    return [match.entry["id"] for match in diagnose(log, knowledge, suggest=False).matches]


@pytest.mark.parametrize(
    ("match", "hit", "miss"),
    [
        ("- text: widget exploded", "the Widget\n  EXPLODED now", "widget imploded"),
        ("- text: [alpha broke, beta broke]", "alpha broke\n...\nbeta broke", "alpha broke"),
        ("- {text: gadget failed, any: [left side, right side]}", "gadget failed: right side", "gadget failed: top"),
        ("- {text: gadget failed, none: [on cuda]}", "gadget failed", "gadget failed on CUDA"),
        ("- regex: 'frob \\w+ is -\\d+'", "frob foo is -3", "frob foo is 3"),
        ("- text: 'rank <int> lost <*> port'", "rank 12 lost the port", "rank x lost the port"),
        ("- text: ret is 8020", "ret is 8020.", "ret is 80201"),
        ("- {text: [first part, second part], within: 1}", "first part\nsecond part", "first part\na\nb\nsecond part"),
        ("- code: {family: cann, value: EI0006}", "EI0006: connection timed out", "EI0007: x"),
        ("- fact: {name: hccn.link, equals: DOWN}", "link status: DOWN", "link status: UP"),
        ("- fact: {name: host.memlock_kb, below: 100000}", "$ ulimit -l\n64", "$ ulimit -l\nunlimited"),
    ],
)
def test_a_block_holds_where_all_its_conditions_do(
    match: str, hit: str, miss: str, write_entry: Write, small_knowledge: Small
) -> None:
    write_entry("the-entry", match)
    knowledge = small_knowledge()
    assert ids(hit, knowledge) == ["the-entry"]
    assert ids(miss, knowledge) == []


def test_a_short_word_is_not_found_across_words(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- {text: widget exploded, any: [tbe]}")
    knowledge = small_knowledge()
    assert ids("widget exploded: could not be", knowledge) == []
    assert ids("widget exploded in tbe_op", knowledge) == ["the-entry"]


def test_a_benign_reading_of_the_same_line_wins(write_entry: Write, small_knowledge: Small) -> None:
    benign = write_entry("harmless", "- {text: optional part could not be loaded, proves: certain}")
    benign.write_text(benign.read_text().replace("severity: fault", "severity: benign"))
    write_entry("alarm", "- text: could not be loaded")
    knowledge = small_knowledge()
    matches = diagnose("the optional part could not be loaded", knowledge, suggest=False).matches
    assert [(m.entry["id"], m.verdict) for m in matches] == [("harmless", "certain"), ("alarm", "possible")]
    assert matches[1].confidence < 0.5


def test_any_one_block_is_enough(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- text: one wording\n- text: other wording")
    assert ids("other wording", small_knowledge()) == ["the-entry"]


def test_captured_words_fill_the_texts(write_entry: Write, small_knowledge: Small) -> None:
    from npu_kb.render.document import match_document

    match = (
        "- text: 'cannot load <word:library>: why'\n- text: 'lost: <word:library>'\n- text: '<word:library> is gone'"
    )
    path = write_entry("missing-library", match)
    path.write_text(path.read_text().replace("Because of missing-library.", '"{library} is not there."'))
    knowledge = small_knowledge()
    for log in ("Cannot load libFoo.so.1: why", "it is lost: 'libFoo.so.1', sorry", "now 'libFoo.so.1' is gone"):
        (match,) = diagnose(log, knowledge).matches
        assert match_document(match, knowledge)["cause"]["en"] == "libFoo.so.1 is not there."


def test_the_evidence_is_the_line_with_its_number(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- text: widget exploded")
    (match,) = diagnose("a\n\nb\n[rank1]: widget exploded at 3\n", small_knowledge()).matches
    assert [(e.line, e.text) for e in match.evidence] == [(4, "widget exploded at 3")]


def test_a_root_comes_before_the_follow_on_that_it_causes(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("peer-timeout", "- {text: timed out waiting for a peer, proves: certain}")
    write_entry("card-lost", "- text: card has been lost", extra="causes: [peer-timeout]\n")
    assert ids("timed out waiting for a peer\ncard has been lost", small_knowledge()) == ["card-lost", "peer-timeout"]


def test_a_follow_on_comes_after_a_root_even_if_it_is_louder(write_entry: Write, small_knowledge: Small) -> None:
    write_entry(
        "noise", "- {text: a very long and very loud line that follows, proves: certain}", extra="role: follow-on\n"
    )
    write_entry("quiet-root", "- text: small cause")
    log = "a very long and very loud line that follows\nsmall cause"
    assert ids(log, small_knowledge()) == ["quiet-root", "noise"]


def test_a_wrapper_never_makes_a_claim(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("wrapper", "- {text: something went wrong inside, proves: certain}", extra="role: wrapper\n")
    assert diagnose("something went wrong inside", small_knowledge(), suggest=False).claims == []


def test_another_vendors_log_gets_no_claim(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- {text: out of memory while allocating, proves: certain}")
    knowledge = small_knowledge()
    assert diagnose("CUDA out of memory while allocating", knowledge, suggest=False).claims == []
    assert len(diagnose("NPU out of memory while allocating; CUDA names kept", knowledge).claims) == 1


def test_a_general_fault_is_claimed_only_beside_text_of_ascend(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- {text: unknown option given, proves: certain}", extra="general: true\n")
    verdicts = [
        diagnose(log, small_knowledge()).matches[0].verdict
        for log in ("server: unknown option given", "Platform plugin ascend is activated\nserver: unknown option given")
    ]
    assert verdicts == ["possible", "certain"]


def test_versions_outside_the_affected_range_weaken_the_verdict(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- text: widget exploded", extra="versions: {affected: {torch_npu: '<2.5.1'}}\n")
    knowledge = small_knowledge()
    verdicts = {
        version: diagnose(f"torch_npu {version}\nwidget exploded", knowledge).matches[0].verdict
        for version in ("2.1.0.post3", "2.5.1rc1", "2.5.1", "2.6.0")
    }
    assert verdicts == {"2.1.0.post3": "likely", "2.5.1rc1": "likely", "2.5.1": "possible", "2.6.0": "possible"}


@pytest.mark.parametrize("width", range(40, 90))
def test_a_regex_is_found_at_any_wrap_width(width: int, write_entry: Write, small_knowledge: Small) -> None:
    write_entry("the-entry", "- regex: 'local_world_size \\(\\d+\\) must be less than or equal to the number of \\w+'")
    line = "AssertionError: local_world_size (8) must be less than or equal to the number of visible devices (4)."
    wrapped = "\n".join(line[at : at + width] for at in range(0, len(line), width))
    assert ids(wrapped, small_knowledge()) == ["the-entry"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(width=st.integers(10, 60), before=st.text("xyz \n", max_size=40), after=st.text("xyz \n", max_size=40))
def test_a_pattern_is_found_at_any_wrap_width(
    width: int, before: str, after: str, write_entry: Write, small_knowledge: Small
) -> None:
    write_entry("the-entry", "- text: 'libfoo.so: cannot open shared object file'")
    line = "ImportError: libfoo.so: cannot open shared object file: No such file"
    wrapped = "\n".join(line[at : at + width] for at in range(0, len(line), width))
    assert ids(f"{before}\n{wrapped}\n{after}", small_knowledge()) == ["the-entry"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.text(max_size=300))
def test_any_text_gets_an_answer(knowledge: Knowledge, text: str) -> None:
    assert diagnose(text, knowledge, suggest=False).log.lines is not None


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("on npu:0", True),
        ("torch_npu", True),
        ("NPUWorker", True),
        ("myNpuModel", True),
        ("two NPUs", True),
        ("npu3", True),
        ("input", False),
        ("INPUT", False),
        ("InputNpuls", False),
        ("inpuT", False),
    ],
)
def test_a_short_word_is_found_as_a_word_only(
    text: str, holds: bool, write_entry: Callable[..., Path], small_knowledge: Callable[[], Knowledge]
) -> None:
    write_entry("short-word", "- text: some failing text\n  any: npu")
    found = diagnose(f"some failing text\n{text}\n", small_knowledge(), suggest=False)
    assert bool(found.claims) is holds


def test_a_short_chinese_word_is_found_inside_a_sentence(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("too-hot", "- text: 温度过高", hit="设备温度过高")
    assert diagnose("检测到设备温度过高告警\n", small_knowledge(), suggest=False).claims


def test_a_regex_is_found_in_its_own_line_beside_one_that_does_not_fit(
    write_entry: Write, small_knowledge: Small
) -> None:
    write_entry("some-entry", "- regex: '(?<!query) failed, result = 107002'", hit="copy failed, result = 107002")
    first, second = "the longest line of all: query failed, result = 107002", "copy failed, result = 107002"
    found = diagnose(f"{first}\n{second}\n", small_knowledge(), suggest=False)
    assert [evidence.line for evidence in found.claims[0].evidence] == [2]


def test_a_hexadecimal_code_is_not_found_in_a_longer_one(write_entry: Write, small_knowledge: Small) -> None:
    write_entry("some-entry", '- text: "error 0xa0018003"', hit="error 0xa0018003")
    knowledge = small_knowledge()
    for text, found in (("error 0xA0018003, retry", 1), ("error 0xa0018003f000", 0), ("error 0xa00180031", 0)):
        assert len(diagnose(text, knowledge, suggest=False).claims) == found, text


@pytest.mark.parametrize(
    "warning",
    [
        "[W compiler_depend.ts:181] Warning: {}",
        "2026-01-01 10:00:00,123 WARNING {}",
        "/a/b.py:82: UserWarning: {}",
        "[WARNING] GE(7,python):2026-01-01-10:00:00.000.000 [a.cc:1]{}",
    ],
)
def test_what_was_only_warned_of_comes_after_what_ended_the_run(
    warning: str, write_entry: Write, small_knowledge: Small
) -> None:
    write_entry("warned", "- {text: first text of the two, proves: certain}", hit="first text of the two")
    write_entry("failed", "- {text: second text, proves: likely}", hit="second text")
    knowledge = small_knowledge()
    log = warning.format("first text of the two") + "\nRuntimeError: second text\n"
    assert [match.entry["id"] for match in diagnose(log, knowledge).claims] == ["failed", "warned"]
    plain = "first text of the two\nRuntimeError: second text\n"
    assert [match.entry["id"] for match in diagnose(plain, knowledge).claims] == ["warned", "failed"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4), st.text(max_size=40), st.booleans())
def test_every_literal_that_stands_in_a_text_is_found(
    knowledge: Knowledge, numbers: list[int], noise: str, often: bool
) -> None:
    """By its pieces as by the automaton, which takes over once many texts were asked for."""
    literals = knowledge.literals
    text = squeeze(noise).join(literals[number % len(literals)] for number in numbers)
    finder = Literals(knowledge)
    for _ in range(30 if often else 1):
        found = finder.found_in(text)
    assert found == [number for number, literal in enumerate(literals) if literal in text]


@pytest.mark.parametrize(
    ("line", "suggested"),
    [
        ("ImportError: libhccl.so can not open the shared object file", {"cann-environment-not-loaded"}),
        ("ERROR: an attention mask of that shape did not fit", {"op-attention-mask-shape-unsupported"}),
        ("ERROR: the zookeeper lost its quorum", set()),
        ("FATAL: the almanac of meteorology was closed by its reader", set()),
    ],
)
def test_only_what_is_near_is_suggested(knowledge: Knowledge, line: str, suggested: set[str]) -> None:
    found = {match.entry["id"] for match in diagnose(line, knowledge).matches}
    assert suggested <= found and bool(found) == bool(suggested)
