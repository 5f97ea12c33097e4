"""Gates on how an entry is recognised: anchors that tell something apart, and regexes that end."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.knowledge.blocks import compile_block, triggers
from npu_kb.knowledge.entryfile import LoadedEntry, runaways
from npu_kb.patterns import squeeze

_WRAPPERS = [
    squeeze(text)
    for text in (
        "EZ9999", "EE9999", "EH9999", "EI9999", "EK9999", "EJ9999", "EF9999", "EL9999", "E19999", "E39999",
        "ERR00100", "ERR99999", "Inner Error", "The Inner error is reported as above",
        "The process exits for this inner error", "Process failed", "NPU function error", "RuntimeError:", "Error:",
        "error code is", "Solution:", "Traceback (most recent call last)", "please check", "Please contact Huawei",
    )
]  # fmt: skip
_WRAPPER_CODE = re.compile(r"^(?:507(?!05[345])\d{3}|E[A-Z1-9]9999|EE8888|ERR\d\d[123]00|ERR99999)$")


@gate()
def no_wrapper_only(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """What only says that something failed is no evidence of what failed."""
    for i, block in enumerate(item.entry.match):
        strong = [s for s in [*block.text, *block.regex] if not is_wrapper(s)]
        any_strong = bool(block.any) and not any(is_wrapper(s) for s in block.any)
        codes = [c for c in block.code if not _WRAPPER_CODE.match(c.value)]
        if not (strong or any_strong or codes or block.fact) and block.proves != "possible":
            yield item.file.problem(("match", i), "matches a wrapper only; add what tells this cause apart")


def is_wrapper(source: str) -> bool:
    """Whether a pattern holds little more than texts that only say that something failed."""
    rest = squeeze(re.sub(r"<[^<>]*>", "", source))
    for wrapper in sorted(_WRAPPERS, key=len, reverse=True):
        rest = rest.replace(wrapper, "")
    rest = re.sub(r"507(?!05[345])\d{3}|errorcode(?:is)?", "", rest)
    return len(re.sub(r"[\W_]", "", rest)) < 5


@gate()
def patterns_have_anchors(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Every block has something fixed by which it is found fast and that tells something apart."""
    for i, block in enumerate(item.entry.match):
        anchors = triggers(compile_block(block))
        if not anchors:
            yield item.file.problem(("match", i), "has no fixed text of 4 characters; add a `text:`")
        conditions = len(block.text) + len(block.regex) + len(block.code) + len(block.fact) + bool(block.any)
        for kind, value in anchors:
            if kind == "text" and len(value) < (4 if conditions > 1 else 6):
                yield item.file.problem(("match", i), f"{value!r} is too short to tell anything apart; lengthen it")


@gate()
def patterns_end(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No pattern runs away on text made to hurt it; of entries from outside the loader has made sure."""
    for i, block in enumerate(item.entry.match):
        for where, message in runaways(block) if not item.is_foreign else ():
            yield item.file.problem(("match", i, *where), message)
