"""Which lines of a log, and which of their phrases, are likely to tell the cause."""

from __future__ import annotations

import re
from typing import NamedTuple

from npu_kb.codes.mentions import find_codes
from npu_kb.findings.masking import PLACEHOLDER
from npu_kb.intake.logtext import Line
from npu_kb.intake.salient import SEARCHED_CHARS, bare, is_noise, speaks_of_error
from npu_kb.intake.stack import speaks_of_ascend
from npu_kb.intake.structure import read_exceptions

_FRAME = re.compile(r"File \"[^\"]{1,400}\", line \d+|\s*at [\w.$/]+\(|#\d+ 0x")
_SOURCE = re.compile(
    r"[\s^~]*$|raise |return |self\.|await |from .* import |import |with |except\b"
    r"|[\w.,\[\] ]+ = [\w.]+\(|[\w.]+\($"
)
"""A line of a program, as tracebacks show it."""
_TELLING_SOURCE = re.compile(r"assert |(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Timeout)\b")
"""What is looked at even below a frame: an exception without its source line, and an assertion."""
_COMMAND = re.compile(r"\S{1,80}@\S{1,80}.{0,80}[#$] |[#$>] ?[a-z.]|.{0,60}\b(?:hccn_tool|npu-smi) (?:-i|info)")
"""What somebody typed."""
_LEVEL = re.compile(r"\b(?:ERROR|FATAL|CRITICAL)\b")
_ADVICE = re.compile(
    r"(?i)\b(?:may|might|can|could) be (?:caused|due)|\bplease\b|\bconsider\b|\bmay (?:have|need|not be)\b|\byou can\b"
    r"|\btry (?:setting|to|using)\b"
    r"|^(?:possible (?:cause|reason)|solution|suggestion|note|hint|if|in this scenario)\b"
    r"|for (?:more|further) (?:information|details)|for details about|rerun with|rectify the fault"
    r"|^(?:\d\.)?\s*check (?:the|if|that|whether)|可能原因|建议|请检查|请参考"
)
_FAILURE_ONLY = re.compile(
    r"NPU function error|(?:HCCL|CANN) error|ADD_TO_LAUNCHER|[Ii]nner error|ERR00100"
    r"|[Ii]nternal server error|originates from a subprocess|launch failed for|call trace"
    r"|call (?:acl\w+|acl api|hccl api|hccl op\S*|\w+ api) (?:failed|load task fail)"
    r"|== (?:\w+::)?\w*SUCCESS\)*,? ?failed|execute failed, reason=\[(?:task|the model)|npuSynchronizeDevice"
    r"|(?:compile|run|execute|init\w*|task run)\w* (?:graph )?failed(?:,|$)|error from device\(|report error module"
    r"|(?i:see (?:the )?root cause|engine ?core (?:failed|init\w* failed)|failed core proc|failed with error)"
    r"|'NoneType' object|(?:list|string|tuple) index out of range"
)

_PLAIN_WORD = re.compile(
    r"an?|the|of|to|for|in|on|at|by|is|was|ha[sd]|have|be|been|with|while|during|when|not|no|non|could|can|cannot"
    r"|\w*(?:error|exception)s?|fail(?:ed|s|ure)?|faults?|abort(?:ed)?|exit(?:ed|s)?|code|status|return(?:ed|s)?|zero"
    r"|stop(?:ped|s)?|terminated|killed|died|crashed|unexpected(?:ly)?|unknown|occurred|happened|went|wrong|something"
    r"|tasks?|jobs?|(?:sub)?process(?:es)?|workers?|ranks?|nodes?|threads?|child|main|requests?|servers?|internal|http"
    r"|models?|system|operation|execut(?:e|ed|ing|ion)|run(?:ning|s)?|start(?:ed|s|ing)?|launch(?:ed|ing)?|see|above"
)
"""What says of anything that it failed."""


class Clue(NamedTuple):
    """A line that may tell the cause: the index of the line, its words, and how likely it tells (higher: more)."""

    line: int
    text: str
    worth: int


def clues(lines: list[str]) -> list[Clue]:
    """The lines that may tell the cause, in their order; stack frames and repetitions are left out."""
    words = [bare(line[:SEARCHED_CHARS]) for line in lines]
    roots = {e.line: e.is_root for e in read_exceptions([Line(text, n, "") for n, text in enumerate(words)])}
    found: dict[str, Clue] = {}
    for index, text in enumerate(words):
        if text not in found and not _is_frame(words, index):
            found[text] = Clue(index, text, _worth(text, lines[index][:SEARCHED_CHARS], roots.get(index)))
    return list(found.values())


def tells_little(phrase: str) -> bool:
    """Whether a phrase only advises, or only says that a call failed."""
    return bool(_ADVICE.search(phrase)) or only_passes_on(phrase)


def only_passes_on(phrase: str) -> bool:
    """Whether a phrase only says that something failed."""
    words = re.findall(r"[^\W\d_]+", PLACEHOLDER.sub(" ", phrase).lower())
    return bool(_FAILURE_ONLY.search(phrase)) or all(map(_PLAIN_WORD.fullmatch, words))


def _is_frame(words: list[str], index: int) -> bool:
    """Whether a line is a frame of a traceback, or shows source."""
    text = words[index]
    below_frame = index > 0 and _FRAME.match(words[index - 1]) is not None
    return bool(_FRAME.match(text) or _SOURCE.match(text)) or (below_frame and not _TELLING_SOURCE.match(text))


def _worth(text: str, line: str, is_root: bool | None) -> int:
    """Root exceptions (None: no exception) and errors of Ascend's stack before others; launchers and commands last."""
    worth = (
        10 * (speaks_of_error(text) or bool(_LEVEL.search(line)))
        + 8 * bool(find_codes(text))
        + {None: 0, True: 25, False: 10}[is_root]
    )
    worth += 10 * (worth > 0 and speaks_of_ascend(line))
    return worth - 60 * (is_noise(text) or bool(_COMMAND.match(text)))
