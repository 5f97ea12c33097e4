"""Match blocks for a new entry: telling phrases with what varies left out, tried on all texts that are known."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from npu_kb.diagnosis.match import Scene, evaluate
from npu_kb.findings.clues import Clue, clues, only_passes_on, tells_little
from npu_kb.findings.masking import PLACEHOLDER, masked
from npu_kb.gates.goodlogs import good_texts
from npu_kb.gates.patterns import is_wrapper
from npu_kb.intake.logtext import Line, LogText
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.blocks import compile_block
from npu_kb.knowledge.entry import Block
from npu_kb.patterns import squeeze

MOST = 3
_LEAST_FIXED, _LEAST_ALONE = 8, 14
"""Fixed characters of a text, and of one that makes a block alone."""
_MOST_CHARS, _MOST_PLACEHOLDERS = 90, 3
_TRIED, _PARTNERS = 20, 6
"""Phrases that are tried, and phrases of other lines that narrow one that is too general."""
_SENTENCE_END = re.compile(r"(?<=[.!?;。；！？])\s+|(?<=[。；！？])|\s\|\s|(?<=\])(?=\[)|(?<=\w):\s(?=[A-Z])")
_TYPE = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception): ")
_ENDS = re.compile(
    r"^(?:<(?:\*|int|hex|word)>|[)\]}/\s,;:.=-])+|(?:,\s*[\w-]+)?(?:<(?:\*|int|hex|word)>|[(\[{\s,;:.=-])*$"
)
"""Placeholders, separators and brackets at the ends, and a last word behind a comma, which names what was cut off."""
_WORD = re.compile(r"(?<![\w.])[A-Za-z][a-z]{2,}(?![\w(])")


class Known(NamedTuple):
    """A text that is known already: a sample of the entry `name`, or the good log at `name`."""

    name: str
    log: LogText
    is_good: bool


class Proposal(NamedTuple):
    """A match block's texts, the lines where they stand, and the known texts that it hits: good logs, entries."""

    texts: list[str]
    lines: list[int]
    good_logs: list[str]
    entries: list[str]
    score: float
    is_general: bool = False
    """Whether other faults print it too: it only says that something failed, or hits other entries' samples."""


class _Phrase(NamedTuple):
    """A text that a block could ask for, the line where it stands, and how much it tells (higher: more)."""

    text: str
    line: int
    score: float


def known_texts(knowledge: Knowledge, directories: list[Path]) -> list[Known]:
    """The hit samples of all entries, and the good logs of all kb folders, each text once."""
    texts = {good.text: good for directory in directories for good in good_texts(directory)}
    good = [Known(f"{t.path.name}:{t.line}", LogText.of(t.text), True) for t in texts.values()]
    samples = [(entry["id"], text) for entry in knowledge.entries() for text in entry["samples"]["hit"]]
    return good + [Known(id, LogText.of(text), False) for id, text in samples]


def propose(excerpt: list[str], known: list[Known]) -> list[Proposal]:
    """Up to three blocks that recognise the excerpt, the best first, each by another line.

    One that hits a good log is among them only if all do.
    """
    phrases = sorted(_phrases(clues(excerpt)), key=lambda phrase: -phrase.score)
    found: list[Proposal] = []
    for phrase in phrases[:_TRIED]:
        if any(phrase.line in other.lines for other in found):
            continue
        partners = [other for other in phrases if other.line != phrase.line][:_PARTNERS]
        if proposal := _narrowed(phrase, partners, excerpt, known):
            found.append(proposal)
    wider = [p for p in found if not any(set(other.texts) < set(p.texts) for other in found)]
    silent = [p for p in wider if not p.good_logs]
    best = sorted(silent or wider, key=lambda p: -p.score)[:MOST]
    return [p._replace(is_general=bool(p.entries) or all(map(_is_bare, p.texts))) for p in best]


def excerpt_log(excerpt: list[str]) -> LogText:
    """The excerpt as a log whose line indexes are its own."""
    return LogText([Line(line, number, "-") for number, line in enumerate(excerpt, 1)])


def hits(texts: list[str], log: LogText) -> list[int]:
    """The indexes of the log's lines in which a block of these texts holds; none where it does not."""
    found = evaluate(compile_block(Block(text=texts)), Scene(log, {}, {}))
    return found.lines if found else []


def evidence(texts: list[str], excerpt: list[str]) -> list[int]:
    """The indexes of the lines that show a block's texts: of each text the first that does so alone, if one does."""
    lines = [excerpt_log([line]) for line in excerpt]
    alone = [next((at for at, line in enumerate(lines) if hits([text], line)), None) for text in texts]
    return hits(texts, excerpt_log(excerpt)) if None in alone else sorted({at for at in alone if at is not None})


def _narrowed(phrase: _Phrase, partners: list[_Phrase], excerpt: list[str], known: list[Known]) -> Proposal | None:
    """The phrase as a block, with a second one where it alone hits known texts or is short; None if too short."""
    alone = _tried([phrase.text], phrase.score, excerpt, known)
    long_enough = _fixed(phrase.text) >= _LEAST_ALONE
    if alone is None or (long_enough and not alone.good_logs and not alone.entries):
        return alone
    for partner in partners:
        both = _tried([phrase.text, partner.text], phrase.score + partner.score / 4 - 15, excerpt, known)
        if both and not both.good_logs and not both.entries:
            return both
    return alone._replace(score=alone.score - 30) if long_enough else None


def _tried(texts: list[str], score: float, excerpt: list[str], known: list[Known]) -> Proposal | None:
    """The block and which known texts it hits; None if it does not recognise the excerpt itself."""
    lines = evidence(texts, excerpt)
    if not lines:
        return None
    block = compile_block(Block(text=texts))
    literals = [pattern[0] for pattern in block["text"]]
    near = (other for other in known if all(literal in other.log.squeezed for literal in literals))
    hit = [other for other in near if evaluate(block, Scene(other.log, {}, {}))]
    names = {good: list(dict.fromkeys(other.name for other in hit if other.is_good == good)) for good in (True, False)}
    return Proposal(texts, lines, names[True], names[False], score)


def _is_bare(text: str) -> bool:
    """Whether a text is an exception that names but one word, or only passes on that something failed."""
    message = _TYPE.sub("", text)
    return only_passes_on(message) or (message != text and len(message.split()) < 2)


def _phrases(found: list[Clue]) -> Iterator[_Phrase]:
    """The phrases of the lines, each once, scored by their line, its place and their own words."""
    seen: set[str] = set()
    for place, clue in enumerate(found):
        for sentence in _SENTENCE_END.split(masked(clue.text)):
            text = _phrase(sentence)
            if text not in seen and _fixed(text) >= _LEAST_FIXED and not is_wrapper(text):
                seen.add(text)
                yield _Phrase(text, clue.line, clue.worth + _telling(text) - min(place, 20) / 4)


def _phrase(sentence: str) -> str:
    """The telling part of a sentence, without the type of an exception where there is enough beside it."""
    message = _trimmed(_shortened(_TYPE.sub("", sentence)))
    return message if _fixed(message) >= _LEAST_ALONE else _trimmed(_shortened(sentence))


def _shortened(text: str) -> str:
    """The part between placeholders with the most fixed characters that is short and holds few of them."""
    holes = list(PLACEHOLDER.finditer(text))
    starts, ends = [0, *(hole.end() for hole in holes)], [*(hole.start() for hole in holes), len(text)]
    parts = (
        text[start:end] for first, start in enumerate(starts) for end in ends[first : first + _MOST_PLACEHOLDERS + 1]
    )
    few = (part for part in parts if part.count("<*>") <= 1)
    return max((_cut(part) for part in few if len(part) <= _MOST_CHARS or not PLACEHOLDER.search(part)), key=_fixed)


def _cut(text: str) -> str:
    """The text up to the last word that is within the length of a phrase."""
    head = text[:_MOST_CHARS]
    return text if head == text else head.rpartition(" ")[0] or head


def _trimmed(text: str) -> str:
    """The text without what tells nothing at its ends."""
    return _ENDS.sub("", text)


def _telling(phrase: str) -> float:
    """How much the words of a phrase say: plain words and length for it; placeholders and settings against it."""
    words = len(_WORD.findall(PLACEHOLDER.sub(" ", phrase)))
    against = 4 * len(PLACEHOLDER.findall(phrase)) + 3 * phrase.count("=") + 40 * tells_little(phrase)
    return 4 * min(words, 8) + min(_fixed(phrase), 60) / 4 - against


def _fixed(text: str) -> int:
    """Number of fixed characters."""
    return len(squeeze(PLACEHOLDER.sub("", text)))
