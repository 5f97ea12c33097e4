"""Text patterns: placeholders, squeezing, required literals."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npu_kb.patterns import TextPattern, required_literal, squeeze


@pytest.mark.parametrize(
    ("source", "literal", "regex", "trailing", "leading"),
    [
        ("Out of Memory", "outofmemory", None, None, None),
        ("undefined symbol: <word:symbol>", "undefinedsymbol:", None, "symbol", None),
        ("rank <int> lost", "rank", r"rank[+-]?\d+lost", None, None),
        ("<*>cannot open", "cannotopen", None, None, None),
        ("<word:op> is not implemented", "isnotimplemented", None, None, "op"),
    ],
)
def test_a_pattern_is_parsed_into_its_longest_literal_and_a_regex(
    source: str, literal: str, regex: str | None, trailing: str | None, leading: str | None
) -> None:
    parsed = TextPattern.parse(source)
    assert (parsed.literal, parsed.regex, parsed.trailing, parsed.leading) == (literal, regex, trailing, leading)


def test_a_pattern_without_fixed_text_is_refused() -> None:
    with pytest.raises(ValueError, match="fixed part"):
        TextPattern.parse("<int><*>")


@given(st.text())
def test_squeezed_text_has_no_white_space_and_loses_nothing_else(text: str) -> None:
    squeezed = squeeze(text)
    assert not any(char.isspace() for char in squeezed)
    assert len(squeezed) == sum(not char.isspace() for char in text)


@given(st.text(alphabet="abcXYZ 0:._-", min_size=1))
def test_squeezing_twice_changes_nothing(text: str) -> None:
    assert squeeze(squeeze(text)) == squeeze(text)


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=4, max_size=20))
def test_the_required_literal_of_an_escaped_text_is_that_text(text: str) -> None:
    assert required_literal(re.escape(text)) == squeeze(text)


@pytest.mark.parametrize(
    ("regex", "literal"),
    [
        (r"error code is 507\d{3}", "errorcodeis507"),
        (r"(?:abcd|efgh)", None),
        (r"\d+\s\w+", None),
        (r"lib\w+\.so: cannot open", ".so:cannotopen"),
        (r"(?P<op>aclnn)\w+ failed", "failed"),
    ],
)
def test_the_required_literal_of_a_regex_is_what_every_match_contains(regex: str, literal: str | None) -> None:
    assert required_literal(regex) == literal
