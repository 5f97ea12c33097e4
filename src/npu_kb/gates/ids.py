"""Gates on ids: each means one entry for ever, stands where it belongs, and leads to one that exists."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from npu_kb.errors import Problem
from npu_kb.gates.context import Context
from npu_kb.gates.gate import gate
from npu_kb.knowledge.entry import Entry
from npu_kb.knowledge.entryfile import LoadedEntry
from npu_kb.knowledge.yamlfile import Where


@gate(of_deprecated=True)
def ids_are_unique(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """No id or former id belongs to two entries, not even to a deprecated one."""
    entry = item.entry
    for other in _others(entry.id, entry, context):
        yield item.file.problem(("id",), f"is an alias of {other}; an id is never reused")
    for i, alias in enumerate(entry.aliases):
        others = [other for other in _others(alias, entry, context) if context.is_told_at(entry.id, other)]
        if alias == entry.id:
            yield item.file.problem(("aliases", i), "is the id itself; remove it")
        elif alias in context.entries:
            yield item.file.problem(("aliases", i), f"{alias!r} is the id of an entry; an id is never reused")
        elif others or entry.aliases.index(alias) < i:
            message = f"{alias!r} is an alias of {(others or [entry.id])[0]} already; remove one of the two"
            yield item.file.problem(("aliases", i), message)


def _others(id: str, entry: Entry, context: Context) -> list[str]:
    """The entries other than this one to which an id leads; its successor counts as the entry itself."""
    own = context.leads_to(entry.superseded_by or entry.id)
    named = context.former.get(id, {})
    return [leads_to for by, leads_to in named.items() if by != entry.id and leads_to not in (own, entry.superseded_by)]


@gate(of_deprecated=True)
def links_lead_somewhere(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """Entries that are named by id exist, under that id."""
    entry = item.entry
    links: list[tuple[Where, str]] = [(("causes", i), id) for i, id in enumerate(entry.causes)]
    links += [(("related", i), id) for i, id in enumerate(entry.related)]
    links += [(("superseded_by",), entry.superseded_by)] if entry.superseded_by else []
    for where, id in links:
        if id == entry.id:
            yield item.file.problem(where, "is the entry itself; remove it")
        elif id not in context.entries and (now := context.leads_to(id)):
            yield item.file.problem(where, f"{id!r} is a former id; write {now}")
        elif id not in context.entries:
            yield item.file.problem(where, f"no entry has the id {id!r}{_hint(id, context.entries)}")


@gate()
def topic_is_known(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """The topic is one of kb/topics.yaml."""
    topics = context.knowledge.topics()
    topic = item.entry.topic
    if topics and topic not in topics:
        yield item.file.problem(("topic",), f"{topic!r} is not in kb/topics.yaml{_hint(topic, topics)}")


@gate(of_deprecated=True)
def layer_is_the_folder(item: LoadedEntry, context: Context) -> Iterator[Problem]:
    """An entry stands in the folder of its layer."""
    folder = item.file.path.resolve().parent
    if folder.parent.name == "entries" and folder.name != item.entry.layer:
        layer = item.entry.layer
        yield item.file.problem(("layer",), f"is {layer}, but the file stands in {folder.name}/; move it to {layer}/")


def _hint(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, names, 1)
    return f" (did you mean {near[0]}?)" if near else ""
