"""What a search index holds: each entry as one Whoosh document, a bag of terms with weights.

A term's weight is the sum of the weights of the fields that it stands in, so that Whoosh scores one field (BM25F).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from npu_kb.knowledge import cachefolder
from npu_kb.knowledge.synonyms import Synonyms
from npu_kb.knowledge.tokens import terms

Document = dict[str, Any]

FIELD = "content"
_MARK, _GAP = "\x1f", "\x1e"
_WEIGHTS = {
    "id": 3.0, "title": 4.0, "symptom": 4.0, "topic": 4.0, "layer": 0.5, "match": 3.0, "hit": 2.0,
    "cause": 1.5, "fix": 1.0, "verify": 0.5, "expect": 0.5,
}  # fmt: skip
_SLOT = re.compile(r"<\*>|<[a-z]+(?::[a-z_]+)?>|\{[a-z_]+\}")
_LITERAL = re.compile(r"(?<!\\)[A-Za-z_\u4e00-\u9fff][\w.\u4e00-\u9fff]{2,}")


def write(path: Path, documents: list[Document], synonyms: Synonyms) -> None:
    """Put an index of the documents at `path` in one step, and drop the oldest of its neighbours."""
    from whoosh.filedb.filestore import FileStorage

    cachefolder.place(path, lambda scratch: _fill(FileStorage(str(scratch)), documents, synonyms).close())
    cachefolder.drop_old(path.parent)


def in_memory(documents: Iterable[Document], synonyms: Synonyms) -> Any:
    """A Whoosh index of the documents in memory."""
    from whoosh.filedb.filestore import RamStorage

    return _fill(RamStorage(), documents, synonyms)


def _fill(storage: Any, documents: Iterable[Document], synonyms: Synonyms) -> Any:
    from whoosh.fields import STORED, Schema

    index = storage.create_index(Schema(id=STORED, links=STORED, content=_content_field()))
    writer = index.writer()
    documents = list(documents)
    links = Counter(id for document in documents for id in {*document.get("causes", []), *document.get("related", [])})
    for document in documents:
        weights = _term_weights(document, synonyms)
        content = _GAP.join(f"{text}{_MARK}{weight:g}" for text, weight in weights.items())
        writer.add_document(id=document["id"], links=links[document["id"]], content=content)
    writer.commit()
    return index


def _content_field() -> Any:
    from whoosh.fields import TEXT

    return TEXT(analyzer=WeightedTerms(), phrase=False)


class WeightedTerms:
    """The analyzer of the index: terms and weights that were already worked out, back from their written form."""

    def __call__(self, value: str, **options: object) -> Iterator[WeightedTerms.Token]:
        for item in value.split(_GAP):
            text, _, weight = item.partition(_MARK)
            yield self.Token(text, float(weight))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WeightedTerms)

    def __hash__(self) -> int:
        return hash(WeightedTerms)

    class Token(NamedTuple):
        """What Whoosh reads of a token."""

        text: str
        boost: float
        stopped: bool = False


def _term_weights(document: Document, synonyms: Synonyms) -> dict[str, float]:
    """Every term of an entry with the sum of the weights of the fields that it stands in."""
    weights: dict[str, float] = defaultdict(float)
    for name, text in _texts(document):
        found = list(terms(text))
        for term in (term for term in found if term.kind != "char"):
            weights[term.text] += _WEIGHTS[name]
            if name == "match" and term.kind in ("code", "number"):
                weights[f"!{term.text}"] += 1.0
        for group in {span.group for span in synonyms.of_text(found)}:
            weights[group] += _WEIGHTS[name]
    for name in (document["id"], *document.get("aliases", [])):
        weights[f"@{name}"] = 1.0
    return weights


def _texts(document: Document) -> Iterator[tuple[str, str]]:
    """The texts of an entry in compiled form, each with the name of its weight."""
    for name in (document["id"], *document.get("aliases", [])):
        yield "id", name.replace("-", " ")
    for text in (document.get("topic", "").replace("-", " "), *document.get("topic_names", {}).values()):
        yield "topic", text
    yield "layer", document.get("layer", "")
    for name in ("title", "symptom", "cause", "verify"):
        for text in document.get(name, {}).values():
            yield name, _SLOT.sub(" ", text)
    for remedy in document.get("fix", []):
        yield from (("fix", remedy[name]) for name in ("en", "zh", "run") if name in remedy)
    for check in document.get("diagnose", []):
        yield from (("expect", text) for text in check["expect"].values())
    for block in document.get("match", []):
        yield from (("match", _SLOT.sub(" ", text)) for name in ("text", "any") for text in block.get(name, []))
        yield from (("match", " ".join(_LITERAL.findall(regex))) for regex in block.get("regex", []))
        yield from (("match", code["value"]) for code in block.get("code", []))
    yield from (("hit", text) for text in document.get("samples", {}).get("hit", []))
