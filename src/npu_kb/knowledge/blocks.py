"""Match blocks as `why` reads them: patterns taken apart, codes with their keys, and what calls a block up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_kb.patterns import TextPattern, required_literal

if TYPE_CHECKING:
    from npu_kb.knowledge.entry import Block, CodeCondition, Entry


def compile_block(block: Block) -> dict[str, Any]:
    """The run-time form of a block: patterns as lists of the fields of TextPattern, codes as [family, key]."""

    def patterns(sources: list[str]) -> list[list[Any]]:
        return [list(TextPattern.parse(source)) for source in sources]

    return {
        "text": patterns(block.text),
        "any": patterns(block.any),
        "none": patterns(block.none),
        "regex": [[required_literal(source), source] for source in block.regex],
        "code": [[c.family, _key(c)] for c in block.code],
        "fact": [fact.model_dump(exclude_none=True) for fact in block.fact],
        "within": block.within,
        "proves": block.proves,
    }


def _key(condition: CodeCondition) -> str:
    from npu_kb.codes.spelling import code_key

    return code_key(condition.family, condition.value)


def triggers(block: dict[str, Any]) -> list[tuple[str, str]]:
    """What must be present for a compiled block to be looked at: literals, else codes, else facts."""
    if block["text"]:
        return [("text", max((p[0] for p in block["text"]), key=len))]
    if literal := max((r[0] for r in block["regex"] if r[0]), key=len, default=None):
        return [("text", literal)]
    if block["any"]:
        return [("text", p[0]) for p in block["any"]]
    if block["code"]:
        family, key = block["code"][0]
        return [("code", f"{family}:{key}")]
    return [("fact", block["fact"][0]["name"])] if block["fact"] else []


def codes_of(entry: Entry) -> set[tuple[str, str]]:
    """(family, key) of every code that the entry's conditions name or its texts print.

    The texts of a block are read as one line: an alternative such as "aicore error" tells which family a number is of.
    """
    from npu_kb.codes.mentions import find_codes

    codes = {(str(c.family), _key(c)) for block in entry.match for c in block.code}
    texts = (" ".join([*block.any, *block.text]) for block in entry.match)
    return codes | {(mention.family, mention.key) for mention in find_codes("\n".join(texts))}
