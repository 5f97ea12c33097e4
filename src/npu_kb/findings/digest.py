"""What is kept of a diagnosis: labels, ids, codes and versions, and the redacted log where no cause was named."""

from __future__ import annotations

import json
import os
from typing import Any
from zlib import crc32

from npu_kb.diagnosis.model import Diagnosis
from npu_kb.intake.clean import printable
from npu_kb.intake.logtext import LogText

_MOST_SOURCES, _MOST_CODES = 20, 50
_LABEL_CHARS = 100
_VERSION_CHARS = 40
_PASTE_LINES, _PASTE_CHARS = 400, 64_000
_LINE_CHARS = 2_000
_CONTEXT = 3
"""Lines kept before and after one that speaks of an error."""
PLAIN_WORDS = {
    "a", "app", "ascend", "b", "c", "case", "console", "core", "crash", "debug", "device", "dmesg", "dump", "err",
    "error", "eval", "fail", "failed", "hccl", "host", "infer", "info", "issue", "job", "json", "kern", "kernel",
    "launch", "log", "logs", "main", "messages", "mindie", "mindspore", "my", "new", "nohup", "npu", "old", "out",
    "output", "paste", "plog", "pretrain", "python", "rank", "ray", "result", "run", "serve", "sft", "slog", "smi",
    "start", "stderr", "stdin", "stdout", "syslog", "task", "test", "tmp", "torch", "trace", "train", "txt", "vllm",
    "worker",
}  # fmt: skip
"""Redaction leaves a name of these words alone, and would take a third of a run to see it."""


def digest(diagnosis: Diagnosis, names: list[str]) -> dict[str, str | None]:
    """The columns of the table `diagnoses`, without its time, for an answer to the files `names`."""
    codes = dict.fromkeys(f"{row['family']}:{row['code']}" for row in diagnosis.codes[:_MOST_CODES])
    return {
        "sources": _labels(names),
        "matches": json.dumps([{"id": match.entry["id"], "verdict": match.verdict} for match in diagnosis.matches]),
        "codes": json.dumps(list(codes)),
        "versions": json.dumps({name: value[:_VERSION_CHARS] for name, value in diagnosis.versions.items()}),
        "paste": None if diagnosis.claims else redacted_paste(diagnosis.log),
        "checksum": checksum(diagnosis.log),
    }


def story_digest(story: dict[str, Any], names: list[str]) -> dict[str, str | None]:
    """The same for a cluster document: its faults, the first one first."""
    faults = [{"id": fault["entry"], "verdict": fault["verdict"]} for fault in story["faults"] if fault["entry"]]
    told = json.dumps([[fault["entry"], fault["time"], fault["parties"]] for fault in story["faults"]])
    return {
        "sources": _labels(names),
        "matches": json.dumps(faults),
        "codes": "[]",
        "versions": "{}",
        "paste": None,
        "checksum": f"{story['sources']['bytes']}-{crc32(told.encode()):08x}",
    }


def _labels(names: list[str]) -> str:
    return json.dumps([label(name) for name in names[:_MOST_SOURCES] or ["-"]])


def checksum(log: LogText) -> str:
    """The same for the same text, however it is wrapped and indented: by it a log that is pasted again is known."""
    return f"{len(log.squeezed)}-{crc32(log.squeezed.encode('utf-8', 'replace')):08x}"


def label(name: str) -> str:
    """The last part of a file's path, without names of people and machines; `-` stands for standard input."""
    base = printable(os.path.basename(name.rstrip("/")))[:_LABEL_CHARS] or "-"
    if base == "-" or PLAIN_WORDS.issuperset(base.lower().replace("-", ".").replace("_", ".").split(".")):
        return base
    from npu_kb.intake.redact import redact

    return redact(base)


def redacted_paste(log: LogText) -> str:
    """At most 400 lines of the log without secrets: all of a short one, else those around lines that tell of errors."""
    from npu_kb.intake.redact import names_in, redact

    names = names_in(log.text)
    chosen = _both_ends([_cut(log.lines[index].text) for index in _salient(log)])
    return redact("\n".join(chosen), names)[:_PASTE_CHARS]


def _salient(log: LogText) -> list[int]:
    """Indexes of the lines worth keeping: all of a short log, else those near one that speaks of an error."""
    from npu_kb.intake.salient import speaks_of_error

    total = len(log.lines)
    if total <= _PASTE_LINES:
        return list(range(total))
    spoken = [index for index, line in enumerate(log.lines) if speaks_of_error(line.text)] or [total - 1]
    near = {near for index in spoken for near in range(index - _CONTEXT, index + _CONTEXT + 1)}
    return sorted(near & set(range(total)))


def _cut(text: str) -> str:
    """The line, a long one cut at a space: half a secret would not be recognised."""
    text = printable(text)
    return text if len(text) <= _LINE_CHARS else text[:_LINE_CHARS].rpartition(" ")[0]


def _both_ends(texts: list[str]) -> list[str]:
    """The texts, of too many as many first as last ones: the cause stands early, the failure late."""
    if len(texts) <= _PASTE_LINES and sum(map(len, texts)) <= _PASTE_CHARS:
        return texts
    head = _fitting(texts)
    return head + _fitting(texts[: len(head) - 1 : -1])[::-1]


def _fitting(texts: list[str]) -> list[str]:
    """The first texts, half as many as a paste may hold."""
    size, fitting = 0, []
    for text in texts[: _PASTE_LINES // 2]:
        size += len(text) + 1
        if size > _PASTE_CHARS // 2:
            break
        fitting.append(text)
    return fitting
