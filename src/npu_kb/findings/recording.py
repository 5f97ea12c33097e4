"""A finding on its way into the knowledge: its draft, and all that it is held against. Asks nobody, prints nothing."""

from __future__ import annotations

import copy
import datetime
import re
import tempfile
from functools import cached_property
from pathlib import Path

from npu_kb.diagnosis.diagnose import diagnose
from npu_kb.diagnosis.model import Match
from npu_kb.errors import NpuKbError, Problem
from npu_kb.findings.draft import Draft, language_of
from npu_kb.findings.duplicates import Near, by_meaning, by_text, nearest
from npu_kb.findings.filing import filing
from npu_kb.findings.masking import PLACEHOLDER
from npu_kb.findings.proposals import Known, Proposal, evidence, hits, known_texts, propose
from npu_kb.findings.write import entry_yaml
from npu_kb.gates.commands import effect_of
from npu_kb.gates.run import check_entries
from npu_kb.gates.selection import select
from npu_kb.intake.logtext import LogText
from npu_kb.knowledge.base import Document, Knowledge
from npu_kb.knowledge.load import entry_files
from npu_kb.knowledge.signatures import FOLDER
from npu_kb.knowledge.walk import walk
from npu_kb.patterns import SLOT

_SLUG_CHARS, _SLUG_WORDS = 60, 8
_SMALL_WORDS = re.compile(
    r"(?:an?|and|are|as|at|be|been|but|by|do|does|for|from|has|have|in|into|is|its?|of|on|or|so|than|that|the|their|this"
    r"|to|was|were|with)"
)
_PLAIN_MISS = "RuntimeError: The Inner error is reported as above. The process exits for this inner error"
"""A near-miss where nothing is nearer: what torch_npu says of any failure."""
_MISS_CHARS = 600


class Recording:
    """A draft, and the knowledge of some kb folders, the built-in one first."""

    def __init__(self, draft: Draft, log: LogText, knowledge: Knowledge, directories: list[Path]) -> None:
        self.draft = draft
        self.log = log
        """What the draft is from, or its excerpt."""
        self.knowledge = knowledge
        self.directories = directories

    @cached_property
    def known(self) -> list[Known]:
        """All texts on which a new pattern should be silent."""
        return known_texts(self.knowledge, self.directories)

    @cached_property
    def proposals(self) -> list[Proposal]:
        """Blocks that would recognise the excerpt, the best first."""
        return propose(self.draft.excerpt, self.known)

    def choose(self, numbers: list[int], proves: str | None = None) -> None:
        """Take the proposals with these numbers (from 1); NpuKbError for one that is not there or hits a good log.

        Unless it is said what they prove, one that other faults print too is no more than possible.
        """
        if wrong := next((n for n in numbers if not 1 <= n <= len(self.proposals)), None):
            raise NpuKbError(f"there is no proposal {wrong}; there are {len(self.proposals)}")
        chosen = [self.proposals[number - 1] for number in numbers]
        if loud := next((p for p in chosen if p.good_logs), None):
            raise NpuKbError(f"{loud.texts[0]!r} hits the good log {loud.good_logs[0]}; write another text by --edit")
        self.draft.set("match", [_block(proposal, proves) for proposal in chosen])
        if shared := sorted({id for proposal in chosen for id in proposal.entries}):
            self.draft.set("related", shared)

    def answer(self) -> Match | None:
        """The first fault that the log is answered with already: the surest claim, or else what may be."""
        matches = diagnose(self.log, self.knowledge, suggest=False).matches
        return next((match for match in matches if match.entry["severity"] != "benign"), None)

    def file_of(self, entry: Document) -> Path | None:
        """The file in which an entry, or the row of a one-line fault, stands."""
        is_row, stem = bool(entry.get("signature")), entry["id"].partition(".")[0]
        for folder in reversed(self.directories):
            paths = [Path(path) for path, _, _ in walk(str(folder)).files]
            rows = [path for path in paths if folder / FOLDER in path.parents]
            if found := next((p for p in (rows if is_row else entry_files(folder, paths)) if p.stem == stem), None):
                return found
        return None

    @cached_property
    def _near_by_text(self) -> list[Near]:
        return list(by_text(self.draft.excerpt, self.knowledge))

    def near(self) -> list[Near]:
        """The entries nearest to what the draft says by now."""
        return nearest([*self._near_by_text, *by_meaning(self._said(), self.knowledge)])

    def _said(self) -> str:
        """Title and cause, as far as they are there."""
        texts = (self.draft.get(f"{name}.{lang}") for name in ("title", "cause") for lang in ("en", "zh"))
        return " ".join(text for text in texts if text)

    def suggestions(self) -> dict[str, str]:
        """{field: what could stand there} for fields that are not filled."""
        found = {
            **self._texts(),
            **filing(self._said(), self.draft.excerpt, self.knowledge),
            "severity": "fault",
            "fix.effect": self._effect(),
            "id": self._free_id(),
        }
        return {path: value for path, value in found.items() if value and not self.draft.get(path)}

    def _texts(self) -> dict[str, str]:
        """A symptom that quotes what the log is recognised by, and the plainest check."""
        blocks = self._blocks()
        words = SLOT.sub(r"<\1>", PLACEHOLDER.sub("...", " ... ".join(blocks[0]))) if blocks else ""
        return {
            "symptom.en": f"The log says: {words}" if words and language_of(words) == "en" else "",
            "symptom.zh": f"日志中出现：{words}" if words else "",
            "verify.en": "The same run ends without this message.",
            "verify.zh": "重新运行，不再出现该报错。",
        }

    def _free_id(self) -> str:
        """The telling words of the English title, joined by `-`; with a number if an entry is called so."""
        words = re.findall(r"[a-z0-9]+", re.sub(r"['’]s\b", "", str(self.draft.get("title.en") or "").lower()))
        telling = [word for word in words if not _SMALL_WORDS.fullmatch(word)]
        slug = "-".join(telling[:_SLUG_WORDS])[:_SLUG_CHARS].strip("-")
        names = (slug, *(f"{slug}-{number}" for number in range(2, 100)))
        return next((name for name in names if slug and self.knowledge.entry(name) is None), "")

    def _effect(self) -> str:
        """What the command of the fix seems to do; something is changed where that cannot be told."""
        seen = effect_of(self.draft.get("fix.run") or "")
        return "write" if seen == "read" else seen

    def _blocks(self) -> list[list[str]]:
        """The texts of each block."""
        blocks = self.draft.get("match") or []
        return [[block["text"]] if isinstance(block["text"], str) else block["text"] for block in blocks]

    def _evidence(self) -> list[str]:
        """For each block the lines of the excerpt that show it."""
        lines = self.draft.excerpt
        found = ["\n".join(lines[at] for at in evidence(texts, lines)) for texts in self._blocks()]
        return list(dict.fromkeys(text for text in found if text))

    def text(self, near: list[Near], author: str | None) -> str:
        """The entry as YAML, with what nobody is asked for: samples, where it was seen, status, author.

        What is missing stands there empty, to be filled in an editor.
        """
        if self.draft.text:
            return self.draft.text
        whole = Draft(self.draft.excerpt, self.draft.versions, copy.deepcopy(self.draft.entry))
        for path in whole.missing():
            whole.set(path, [{"text": ""}] if path == "match" else "")
        today = datetime.date.today()
        seen = ", ".join(f"{name} {version}" for name, version in sorted(whole.versions.items()))
        sources = [*(whole.get("references") or []), {"source": f"seen with {seen}" if seen else "seen in a log"}]
        hit, miss = self._evidence(), whole.get("samples.miss") or [self._miss(near)]
        whole.entry |= {
            "samples": {"hit": hit or ["\n".join(whole.excerpt)], "miss": miss},
            "references": [{**source, "read": today} for source in sources],
        }
        return entry_yaml({"role": "root", "status": "reported"} | whole.entry | ({"author": author} if author else {}))

    def _miss(self, near: list[Near]) -> str:
        """The nearest text that is none of this entry's: of another entry, else of this excerpt, else a plain one."""
        lines = [*(other.line for other in near), *reversed(self.draft.excerpt), _PLAIN_MISS]
        silent = (line[:_MISS_CHARS] for line in lines if len(line) > 1)
        return next(line for line in silent if not any(hits(texts, LogText.of(line)) for texts in self._blocks()))

    def check(self, text: str, path: Path) -> tuple[list[Problem], str | None]:
        """What is wrong with an entry of this text that would stand at `path`, and the id claimed first on the log."""
        with tempfile.TemporaryDirectory(prefix="npu-kb-") as folder:
            scratch = Path(folder).resolve() / "entries" / path.parent.name / path.name
            scratch.parent.mkdir(parents=True)
            scratch.write_text(text, "utf-8")
            selection = select([scratch], self.directories)
            found = check_entries(selection, self.directories)
        problems = [p._replace(path=path) if p.path == scratch else p for p in found]
        if self.knowledge.entry(path.stem):
            message = "is the id of an entry already, or was; extend that entry, or give another id"
            problems.insert(0, Problem(path, 1, 1, "id", message))
        claims = diagnose(self.log, selection.knowledge, suggest=False).claims
        return problems, next((match.entry["id"] for match in claims), None)


def _block(proposal: Proposal, proves: str | None) -> Document:
    """A match block of an entry file."""
    texts = proposal.texts if len(proposal.texts) > 1 else proposal.texts[0]
    return {"text": texts, "proves": proves or ("possible" if proposal.is_general else "likely")}
