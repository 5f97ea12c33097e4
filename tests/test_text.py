"""Wrapping, and numbers with their nouns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.render.text import filled, width_of, wrap

_WIDTH = 24
_PIECES = ["更换硬件", "[修改配置]", "（HBM）；", "「卡」，", "见（表 1）。", "rank 3", "：", "、", "CANN 8.1"]


@given(st.lists(st.sampled_from(_PIECES), max_size=30))
def test_no_line_ends_with_an_opening_bracket_or_begins_with_closing_punctuation(pieces: list[str]) -> None:
    text = "卡".join(pieces)
    lines = wrap(text, _WIDTH)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    for line in lines:
        assert width_of(line) <= _WIDTH
        assert line[-1:] not in tuple("[（「"), lines
    for line in lines[1:]:
        assert line[:1] not in tuple("；，。：、）]」"), lines


def test_a_line_breaks_beside_wide_characters_but_not_inside_a_word() -> None:
    assert wrap("查看日志rank", 8) == ["查看日志", "rank"]
    assert wrap("日志日志（修", 10) == ["日志日志", "（修"]


@pytest.mark.parametrize(
    ("number", "said"), [(0, "0 logs, 0 entries"), (1, "1 log, 1 entry"), (2, "2 logs, 2 entries")]
)
def test_a_number_takes_its_noun_along(number: int, said: str) -> None:
    assert filled("{n:log}, {n:entry|entries}", n=number) == said


def test_other_format_specifications_are_as_ever() -> None:
    assert filled("{count:>3} {name} {share:.0%}", count=1, name="x", share=0.5) == "  1 x 50%"
