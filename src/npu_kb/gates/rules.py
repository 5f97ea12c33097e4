"""What each rule asks that a problem may name, for reports that list them."""

from __future__ import annotations

from npu_kb.gates import goodlogs, history, links, signatures
from npu_kb.gates.gate import GATES

UNREADABLE = "file_is_readable"
"""The rule of problems that name none: the file cannot be read or breaks the model."""
_OTHERS = {
    UNREADABLE: "A knowledge file can be read and holds the fields of its kind.",
    goodlogs.RULE: "No entry claims a fault on logs of healthy machines and of other stacks.",
    history.IDS_STAY: "An id that existed leads to an entry for ever.",
    history.START_LOW: "A new entry starts as draft or reported.",
    signatures.RULE: "A one-line fault answers its own text, and nothing else says the same.",
    links.RULE: "The addresses of references still answer.",
}


def rule_summaries() -> dict[str, str]:
    """Rule names with one sentence each."""
    return _OTHERS | {gate.name: gate.summary for gate in GATES}
