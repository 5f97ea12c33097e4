"""From what was seen in a log to the entries of the knowledge that hold there, judged by the matcher of `why`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import repeat
from typing import Any
from zlib import crc32

from npu_kb.cluster.needles import Rule
from npu_kb.cluster.observation import MAX_TEXT, Observation, Row, SourceSummary
from npu_kb.cluster.sightings import NEAR, OUTPUT, Probe, Seen, Sightings
from npu_kb.cluster.times import read_time
from npu_kb.cluster.writers import label_of
from npu_kb.cluster.zones import in_own_zone
from npu_kb.diagnosis.diagnose import matches_of, scene_of
from npu_kb.diagnosis.match import Scene
from npu_kb.diagnosis.model import VERDICTS, Match
from npu_kb.diagnosis.rank import with_excuses
from npu_kb.intake.clean import decode, printable
from npu_kb.intake.logtext import Line, LogText, lines_of
from npu_kb.intake.stack import Stack
from npu_kb.intake.versions import read_versions
from npu_kb.knowledge.base import Knowledge

_GAP = 30
"""Empty lines that stand for those left out between two lines, so that far lines are not near ones."""
_SCENES = 20
"""Excerpts that are kept, as several rules are judged in the same one."""
_EMPTY = Line("", 0, "")
_SEARCHED = 50
"""Lines at an end of a log in which a time is looked for."""
_TRIED, _RANK = 5, b"[rank"
"""First lines in which a launcher's label is looked for, and what begins a prefix that names a rank."""
_HEAD_LINES = 8
"""By which a log is told from another one of the same name."""


def rows_of(seen: Sightings, probe: Probe, knowledge: Knowledge) -> list[Row]:
    """The observations, clues and summary of a log."""
    head, tail = decode(seen.head).split("\n"), decode(seen.tail).split("\n")
    first, last = _first_time(head), _first_time(tail[::-1])
    lines = seen.lines + (1 if seen.tail and not seen.tail.endswith(b"\n") else 0)
    summary = SourceSummary(
        seen.source, seen.offset, lines, first, last, seen.errors, seen.trouble, head=_sums(seen.head)
    )
    _look_for_writers(seen, head, tail)
    rows: list[Row] = [*_observations(seen, probe, knowledge), *seen.clues.all_clues, summary]
    return in_own_zone(rows, (seen.head, seen.tail))


def _look_for_writers(seen: Sightings, head: list[str], tail: list[str]) -> None:
    """Who wrote the lines at the log's ends and those that were kept, if any line there seems to name its writer."""
    samples = [sample.text for kept in seen.kept.values() for sample in kept]
    is_named = any(map(label_of, head[:_TRIED])) or any(_RANK in text for text in (seen.head, seen.tail, *samples))
    if is_named:
        seen.clues.writers.look_at([*head, *tail, *(decode(text).split("\n")[0] for text in samples)])


def _sums(head: bytes) -> str:
    """Of the first whole lines, four digits for each."""
    sums, total = "", 0
    for line in head.split(b"\n")[:-1][:_HEAD_LINES]:
        total = crc32(line, total)
        sums += f"{total & 0xFFFF:04x}"
    return sums


def _first_time(lines: list[str]) -> float | None:
    return next((time for line in lines[:_SEARCHED] if (time := read_time(line)) is not None), None)


def _observations(seen: Sightings, probe: Probe, knowledge: Knowledge) -> Iterator[Observation]:
    rules = probe.calls.rules(seen.counts.keys())
    if not rules:
        return
    by_entry: dict[str, list[Rule]] = {}
    for rule in rules:
        by_entry.setdefault(rule.entry, []).append(rule)
    for match in with_excuses(_matches(rules, seen, probe, knowledge)):
        yield _observation(match, by_entry[match.entry["id"]], seen)


def _matches(rules: list[Rule], seen: Sightings, probe: Probe, knowledge: Knowledge) -> list[Match]:
    """One match for each entry: its strongest rule, each judged in the lines that hold its needles."""
    texts = list(_texts(seen))
    versions, stack = read_versions(texts), Stack("\n".join(texts))
    best: dict[str, Match] = {}
    scenes: dict[tuple[object, ...], Scene] = {}
    for rule in rules:
        block = _blocks(knowledge, rule.entry)[rule.number]
        lines, whole = _excerpt(rule, seen, probe), bool(block["code"] or block["fact"])
        key = (whole, *(line.line for line in lines))
        if key not in scenes:
            if len(scenes) >= _SCENES:
                scenes.clear()
            log = LogText(list(_with_gaps(lines)))
            scenes[key] = scene_of(log, knowledge) if whole else Scene(log, {}, {})
        for match in matches_of([block], scenes[key], knowledge, versions, stack):
            best[rule.entry] = min(best.get(rule.entry, match), match, key=_standing)
    return list(best.values())


def _texts(seen: Sightings) -> Iterator[str]:
    """The lines that tell what the log is about: its first ones, and those that hold needles."""
    yield from (line.text for line in lines_of(seen.head, ""))
    samples = sorted({sample[1:3]: sample for kept in seen.kept.values() for sample in kept}.values())
    for text in dict.fromkeys(line.text for sample in samples for _, line in _apart(sample)):
        yield from (line.text for line in _plain(text))


def _standing(match: Match) -> tuple[int, int]:
    return VERDICTS.index(match.verdict), -match.weight


def _lines(seen: Sightings, needles: frozenset[int]) -> dict[int, Seen]:
    """The sample lines of these needles by number, in their order, each apart from those that were kept with it."""
    found: dict[int, Seen] = {}
    for sample in (sample for needle in needles for sample in seen.kept.get(needle, [])):
        for number, line in _apart(sample):
            found[number] = max(line, found.get(number, line), key=_length)
    return dict(sorted(found.items()))


def _apart(sample: Seen) -> Iterator[tuple[int, Seen]]:
    offset = sample.offset
    for number, text in enumerate(sample.text.split(b"\n"), sample.line):
        yield number, sample._replace(line=number, offset=offset, text=text)
        offset += len(text) + 1


def _length(line: Seen) -> int:
    return len(line.text)


@lru_cache(maxsize=1_000)
def _blocks(knowledge: Knowledge, entry: str) -> list[dict[str, Any]]:
    return knowledge.blocks_of(entry)


def _excerpt(rule: Rule, seen: Sightings, probe: Probe) -> list[Seen]:
    """What the rule is judged in: the lines of its needles; if those cannot tell all, the lines near them too."""
    lines = _lines(seen, rule.needles | rule.ruling_out)
    near: dict[int, Seen] = {}
    if rule.needs_lines_around or rule.needs_facts or rule.needles & probe.anchors.passed_over:
        below = OUTPUT if rule.needs_facts else NEAR
        around = {number + step for number in lines for step in range(-NEAR, below + 1)}
        near = {number: seen.near[number] for number in around & seen.near.keys()}
    return [line for _, line in sorted({**near, **lines}.items())]


def _with_gaps(lines: list[Seen]) -> Iterator[Line]:
    before = 0
    for line in lines:
        yield from repeat(_EMPTY, min(_GAP, line.line - before - 1) if before else 0)
        for plain in _plain(line.text):
            yield plain._replace(number=line.line + plain.number - 1)
        before = line.line


@lru_cache(maxsize=1_000)
def _plain(text: bytes) -> list[Line]:
    return lines_of(text, "")


def _observation(match: Match, rules: list[Rule], seen: Sightings) -> Observation:
    needles = frozenset[int]().union(*(rule.needles for rule in rules)) & seen.counts.keys()
    number = match.evidence[0].line
    lines = _lines(seen, needles)
    above = next((line for line in [*lines.values()][::-1] if line.line <= number), next(iter(lines.values())))
    first = lines.get(number) or seen.near.get(number) or above
    last_line, last_time = max((_last(rule, seen) for rule in rules), key=_line)
    return Observation(
        source=seen.source,
        line=number,
        offset=first.offset,
        time=_time_of(first),
        entry=match.entry["id"],
        verdict=match.verdict,
        text=printable(decode(first.text).split("\n")[0]).strip()[:MAX_TEXT],
        captures=match.captures,
        count=max(_count(rule, seen) for rule in rules),
        last_line=max(number, last_line),
        last_time=last_time,
    )


def _time_of(line: Seen) -> float | None:
    """What the line itself tells; if it tells none, what the line tells that it was kept with."""
    own = read_time(decode(line.text))
    return line.time if own is None else own


def _last(rule: Rule, seen: Sightings) -> tuple[int, float | None]:
    """Line and time of the last needle of the condition that was met last the longest ago."""
    groups = [[seen.last[needle] for needle in group & seen.last.keys()] for group in rule.groups]
    return min((max(group, key=_line) for group in groups if group), key=_line, default=(0, None))


def _line(last: tuple[int, float | None]) -> int:
    return last[0]


def _count(rule: Rule, seen: Sightings) -> int:
    """Lines that hold the rarest of the rule's conditions."""
    counts = (max(seen.counts.get(needle, 0) for needle in group) for group in rule.groups)
    return min((count for count in counts if count), default=1)
