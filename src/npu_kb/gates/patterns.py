"""Gates on how an entry is recognised: anchors that tell something apart, and regexes that end."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.knowledge.compile import compile_block, triggers
from npu_kb.knowledge.entryfile import LoadedEntry
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
_HOSTILE = ["a" * 3000, " " * 3000, "0" * 3000 + "x", "error: " * 500, "[" * 3000, "a.b/c-d_" * 400]
_BUDGET_SECONDS = 0.1


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
def regexes_end(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No regex runs away on text made to hurt it."""
    for i, block in enumerate(item.entry.match):
        for j, source in enumerate(block.regex):
            if re.search(r"[+*]\)[+*]", source) or _is_slow(source):
                yield item.file.problem(("match", i, "regex", j), "can run away; avoid nested or adjacent repeats")


def _is_slow(source: str) -> bool:
    regex = re.compile(source, re.IGNORECASE)
    literal = re.sub(r"\\.|[^\w ]", "", source)[:40]
    start = time.process_time()
    for text in _HOSTILE:
        regex.search(literal + text)
    return time.process_time() - start > _BUDGET_SECONDS * len(_HOSTILE)
