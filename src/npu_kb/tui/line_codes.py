"""The error codes in a line of a log, explained."""

from __future__ import annotations

from npu_kb.codes.explain import explain
from npu_kb.codes.mentions import find_codes
from npu_kb.knowledge.base import Knowledge
from npu_kb.render.codes import explanations_text
from npu_kb.render.text import choose

_LINE_CHARS = 2_000
"""Of a line that are searched for codes."""


def short_meaning(line: str, knowledge: Knowledge, lang: str) -> str:
    """What its codes mean, in few words; empty where there is none."""
    mentions = find_codes(line[:_LINE_CHARS], knowledge)
    rows = [row for mention in mentions if (row := knowledge.lookup(mention.family, mention.key))]
    return "; ".join(dict.fromkeys(f"{r['code']} ({r['family']}): {choose(r['meaning'], lang)[0]}" for r in rows))


def full_meaning(line: str, knowledge: Knowledge, lang: str) -> str:
    """Everything about its codes; empty where there is none."""
    spellings = dict.fromkeys(mention.code for mention in find_codes(line[:_LINE_CHARS], knowledge))
    found = explain(list(spellings), knowledge)
    return explanations_text(found, lang, False) if found else ""
