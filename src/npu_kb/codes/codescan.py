"""A text in which codes are looked for, what was found in it, and the forms that codes have.

`why` imports this on every start, so each pattern is compiled when it is first needed.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from npu_kb.codes.model import CodeLookup, CodeRow


class CodeMention(NamedTuple):
    """A code found in a text: text[start:end] == spelling; context is how it was known."""

    family: str
    code: str
    """As the catalogue prints it, if a catalogue was given; else the key."""
    key: str
    start: int
    end: int
    spelling: str
    context: str
    """label: a word before it says so; shape: its form alone; listed: its form and the catalogue; name: its symbol."""


_NUMBER_END = r"(?![\w/-]|[.:]\w)"
_PATTERNS = {
    "torch_npu": r"\bERR(?:0[0-4]|99)\d{3}\b",
    "cann": r"(?<![\w.#-])[EW](?:[A-Z]\d{4}|[1-9]\d{4}|21\d{2}[0-9A-F])(?![\w-])",
    "acl": r"(?<![\w.:/#$-])(?:10[07]|14[58]|20[07]|245|300|345|50[07]|545|[135]61)\d{3}" + _NUMBER_END,
    "rt_hex": r"\b0x0?7(?:0[1-9a-e]|1[0-9a-f]|20)00[0-9a-f]{2}\b",
    "rt_decimal": r"(?<![\w.-])11(?:7[5-9]|8\d|9[0-5])\d{5}(?![\w-]|\.\d)",
    "label": (
        r"(?:err(?:or)?[ _]?(?:code|no)?|ret(?:urn)?[ _]?(?:code|val(?:ue)?)?|result)\w{0,16}\s{0,3}"
        r"(?:->|=|:|\[|\(|is\b)\s{0,3}(?P<value>0x[0-9a-f]{1,20}|-?\d{1,10})(?!\w|\.\d)"
    ),
    "registers": (
        r"err(?:or)?[ _]?code\s{0,3}[:=]?\s{0,3}"
        r"\((?P<list>(?:0x[0-9a-f]{1,16}|\d{1,4})(?:[, ]{1,3}(?:0x[0-9a-f]{1,16}|\d{1,4})){0,39}) ?\)"
    ),
    "dms": (
        r"node type=(?P<node>0x[0-9a-f]{1,3})[^\n]{0,20}; ?sensor type=(?P<sensor>0x[0-9a-f]{1,2})[^\n]{0,40}?"
        r"event_state=(?P<state>0x[0-9a-f]{1,3}|\d{1,3})"
    ),
    "ge": r"(?<![\w.-])(?:0x[59]010[0-9a-f]{4}|13432\d{5}|24170\d{5})(?![\w-]|\.\d)",
    "dcmi": r"(?<![\w.-])-(?:80[0-2]\d|8255|90[0-2]\d|925[56])(?!\w|\.\d|-)",
    "device": (
        r"(?<![0-9a-z_.#-])(?:0x)?(?:8[01cf][0-9a-f]{6}|4[01c][0-9a-f]{6}|[9ab][2468][0-9a-f]{6})(?![0-9a-z_]|-[0-9a-f])"
    ),
    "fault_id": r"(?:fault|event|alarm|error)[ _]?(?:code|id)s?\W{1,6}(?P<value>0x[0-9a-f]{8}|\d{9}|[0-9a-f]{8})(?!\w)",
    "switch": r"\[0x[0-9a-f]{8}(?:, ?(?:\d{1,9}|na|l2|cpu|npu)){3}\]",
    "name": (
        r"\b(?:HCCL_E|ACL_ERROR|ACLNN_ERR|DRV_ERROR|RT_ERROR|TS_ERROR|AICPU_SCHEDULE_ERROR|DCMI_ERR_CODE"
        r"|NPU_ERR_CODE|GE|LLM)_[A-Z0-9_]{2,60}\b"
    ),
    "says_code": (
        r"err(?:or)?[ _]?(?:code|no)|acl_?error|error\W{0,3}$|错误码|返回"
        r"|(?<![a-z])ret(?:urn(?:s|ed)?|[ _]?code|val)?(?![a-z])"
    ),
    "counts": (
        r"(?:step|iter|iteration|seed|port|pid|tid|epoch|token|sample|line|len|length|size|timeout|batch|count|index"
        r"|(?:task|stream|model|device|graph|event|node|block|op|req(?:uest)?|notify|context|thread|group)[_ ]?id)s?"
        r"\W{0,3}$"
    ),
    "process": r"(?:\b[A-Z][A-Z0-9_]*\(|:\d{1,6}\] ?)$",
    "unit_after": r" ?(?:steps?|iters?|it|ms|us|tokens?|samples?|bytes|[kmg]i?b)\b",
    "ge_before": r"\bge\b",
    "hal_call": r"\bhal[A-Z]\w{2,40}\b[^\n]*$",
    "core_before": r"\b(?:aic(?:ore)?|aiv(?:ec)?|ai core|vector core)\b",
    "fault_before": r"fault|event|alarm|health|err(?:or)?[ _]?(?:code|id|no)|故障|告警|事件|错误码",
}  # fmt: skip


@cache
def regex(name: str) -> re.Pattern[str]:
    """The compiled pattern of that name."""
    return re.compile(_PATTERNS[name], re.ASCII)


class CodeScan:
    """One pass over one text; every number is claimed once, by the rule that knows most about it."""

    def __init__(self, text: str, lookup: CodeLookup | None) -> None:
        self.text = text
        self.lower = _ascii_lower(text)
        self.lookup = lookup
        self.found: list[CodeMention] = []
        self._claimed: set[int] = set()

    def add(self, family: str, key: str, start: int, end: int, context: str) -> None:
        """Record a mention; several bits of one number may share its place."""
        row = self.row(family, key)
        code = str(row["code"]) if row else key
        self.found.append(CodeMention(family, code, key, start, end, self.text[start:end], context))
        self._claimed.add(end)

    def is_free(self, end: int) -> bool:
        """Whether no rule took the number that ends here."""
        return end not in self._claimed

    def row(self, family: str, key: str) -> CodeRow | None:
        """The catalogue row, if there is a catalogue."""
        return self.lookup.lookup(family, key) if self.lookup else None

    def before(self, start: int, width: int) -> str:
        """Lower-case text of the same line, at most `width` characters before a place."""
        left = max(0, start - width, self.lower.rfind("\n", max(0, start - width), start) + 1)
        return self.lower[left:start]


def _ascii_lower(text: str) -> str:
    """Lower case of the same length, so that offsets stay true."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return text.translate({upper: upper + 32 for upper in range(65, 91)})


def acl_family(digits: str) -> str | None:
    """acl or aclnn by the range of a six-digit code."""
    if not re.fullmatch(r"\d{6}", digits):
        return None
    if digits[:3] in ("161", "361", "561"):
        return "aclnn"
    return "acl" if digits[:3] in _ACL_RANGES else None


_ACL_RANGES = frozenset(("100", "107", "145", "148", "200", "207", "245", "300", "345", "500", "507", "545"))
