"""Every value of every output of the stack's tools is read: facts with their device, and versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.intake.facts import Fact, read_facts
from npu_kb.intake.logtext import LogText
from npu_kb.intake.versions import read_versions

SAMPLES: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "data" / "outputs.yaml").read_text("utf-8"))


def grouped(facts: list[Fact]) -> dict[str, dict[str, Any]]:
    """{device: {name: value, or values in the order of their lines}}."""
    found: dict[str, dict[str, list[Any]]] = {}
    for fact in facts:
        found.setdefault(fact.subject or "-", {}).setdefault(fact.name, []).append(fact.value)
    return {s: {n: v[0] if len(v) == 1 else v for n, v in names.items()} for s, names in found.items()}


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["name"] for sample in SAMPLES])
def test_all_that_an_output_says_is_read(sample: dict[str, Any]) -> None:
    lines = LogText.of(sample["text"]).lines
    assert grouped(read_facts(lines)) == sample["facts"]
    assert read_versions([line.text for line in lines]) == sample.get("versions", {})


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample["name"] for sample in SAMPLES])
def test_each_fact_names_the_line_that_holds_it(sample: dict[str, Any]) -> None:
    lines = LogText.of(sample["text"]).lines
    for name, value, line, _ in read_facts(lines):
        if name in ("npu.power_w", "npu.hbm_used_mb", "hccn.link", "npu.bus_id", "driver.accepts_cann"):
            assert (f"{value:g}" if isinstance(value, float) else value) in lines[line].text


def test_launchers_prefixes_do_not_hide_a_table() -> None:
    text = SAMPLES[0]["text"]
    prefixed = "".join(f"[rank3]: {line}\n" for line in text.splitlines())
    assert grouped(read_facts(LogText.of(prefixed).lines)) == SAMPLES[0]["facts"]


@pytest.mark.parametrize(
    "text",
    [
        "Health: Alarm",
        "service health : Warning of the day",
        "Error Code: 500",
        "temperature: 0.7",
        "Compatibility: no",
    ],
)
def test_words_of_other_programs_are_no_facts(text: str) -> None:
    assert read_facts(LogText.of(text).lines) == []


@given(st.lists(st.sampled_from([line for sample in SAMPLES for line in sample["text"].splitlines()]), max_size=30))
def test_outputs_may_stand_in_any_order(lines: list[str]) -> None:
    log = LogText.of("\n".join(lines))
    facts = read_facts(log.lines)
    assert [fact.line for fact in facts] == sorted(fact.line for fact in facts)
    assert all(0 <= fact.line < len(log.lines) for fact in facts)
    read_versions([line.text for line in log.lines])


@given(st.text(alphabet="|= :[](),.0123456789abcNPUIDversion-\n", max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    lines = LogText.of(text).lines
    read_facts(lines)
    read_versions([line.text for line in lines])
