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
    """The conditions of match blocks, one on each line; what belongs to a line above it is indented.

    What all blocks ask for is said once, behind them.
    """
    if len(blocks) < 2:
        return [line for block in blocks for line in _joined(_conditions(block, lang), block.get("within"), lang)]
    parts = [_conditions(block, lang) for block in blocks]
    shared = _shared(parts) if len({block.get("within") for block in blocks}) == 1 else []
    lines = [_say("any block", lang)]
    for block, conditions in zip(blocks, parts, strict=True):
        own = [condition for condition in conditions if condition not in shared]
        first, *others = _joined(own, None if shared else block.get("within"), lang)
        lines += [f"- {first}", *(f"  {line}" for line in others)]
    return [*lines, *_added(shared, blocks[0].get("within"), lang)] if shared else lines


def _shared(parts: list[list[list[str]]]) -> list[list[str]]:
    """The conditions that stand in each part, if each has others too."""
    shared = [condition for condition in parts[0] if all(condition in part for part in parts)]
    return shared if all(len(part) > len(shared) for part in parts) else []


def _joined(conditions: list[list[str]], within: int | None, lang: str) -> list[str]:
    """Conditions all of which must hold, and how near to each other."""
    return [*conditions[0], *_added(conditions[1:], within, lang)]


def _added(conditions: list[list[str]], within: int | None, lang: str) -> list[str]:
    """Conditions that must hold besides others, and how near they all must stand."""
    lines = []
    for condition, *alternatives in conditions:
        lines += [_say("and", lang, what=condition), *alternatives]
    return lines if within is None else [*lines, _say("within", lang, lines=within)]


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
