"""By what an entry is recognised: which conditions are joined by "and", and which of them one is enough of."""

from __future__ import annotations

from typing import Any

from npu_kb.render.text import Say

_SIGNS = {"above": ">", "below": "<", "equals": "=", "differs": "!="}
_say = Say(
    {
        "any block": {"en": "any one of these:", "zh": "满足任意一组即可："},
        "and": {"en": "and {what}", "zh": "且 {what}"},
        "one of": {"en": "one of:", "zh": "以下至少出现一条："},
        "none of": {"en": "none of:", "zh": "以下均不出现："},
        "regex": {"en": "regular expression {what}", "zh": "正则表达式 {what}"},
        "code": {"en": "code {value} ({family})", "zh": "错误码 {value}（{family}）"},
        "within": {"en": "all within {lines:line} of each other", "zh": "以上相距不超过 {lines} 行"},
    }
)


def condition_lines(blocks: list[dict[str, Any]], lang: str) -> list[str]:
    """The conditions of match blocks, one on each line; what belongs to a line above it is indented."""
    if len(blocks) < 2:
        return [line for block in blocks for line in _block_lines(block, lang)]
    lines = [_say("any block", lang)]
    for block in blocks:
        first, *others = _block_lines(block, lang)
        lines += [f"- {first}", *(f"  {line}" for line in others)]
    return lines


def _block_lines(block: dict[str, Any], lang: str) -> list[str]:
    """The conditions of one block, all of which must hold."""
    (first, *nested), *others = _conditions(block, lang)
    lines = [first, *nested]
    for condition, *alternatives in others:
        lines += [_say("and", lang, what=condition), *alternatives]
    return [*lines, _say("within", lang, lines=block["within"])] if block.get("within") is not None else lines


def _conditions(block: dict[str, Any], lang: str) -> list[list[str]]:
    """Each condition as its line, and below it the texts that it chooses from."""
    found = [[text] for text in block["text"]]
    found += [[_say("regex", lang, what=regex)] for regex in block["regex"]]
    found += [[_say("code", lang, value=code["value"], family=code["family"])] for code in block["code"]]
    found += [[_fact(fact)] for fact in block["fact"]]
    if block["any"]:
        found.append(_listed("one of", block["any"], lang) if len(block["any"]) > 1 else block["any"])
    return [*found, _listed("none of", block["none"], lang)] if block["none"] else found


def _listed(name: str, texts: list[str], lang: str) -> list[str]:
    return [_say(name, lang), *(f"  {text}" for text in texts)]


def _fact(fact: dict[str, Any]) -> str:
    """A fact and what it must be: `npu.temperature_c > 85`."""
    return " ".join([fact["name"], *(f"{sign} {fact[name]}" for name, sign in _SIGNS.items() if name in fact)])
