"""Does `npu-kb record` make an entry that answers its paste and leaves the others alone?

    python benchmarks/record_round_trip.py CASES_DIR [--cases 10] [--show]

From the pastes below CASES_DIR (STEM.log beside STEM.yaml) that are answered with a claim, some are chosen, each with
another first answer. For each, that answer is taken out of a copy of the knowledge, and `record` is given the paste
and the words of the entry that is gone: title, cause and fix. The new entry must pass the gates, answer the paste first
with a claim, and leave the first answers of the ten nearest other pastes as they were without it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from rapidfuzz import fuzz, process

from npu_kb import Knowledge, diagnose, locations
from npu_kb.knowledge.compile import compile_knowledge
from npu_kb.patterns import SLOT

NEIGHBOURS = 10
COMMAND = (
    "import sys; from npu_kb import locations; kb = sys.argv.pop(1); locations.builtin_kb_directory = lambda: kb;"
    "locations.packaged_database = lambda: None; from npu_kb.cli import main; sys.exit(main(sys.argv[1:]))"
)


class Outcome(NamedTuple):
    """What became of one case."""

    stem: str
    valid: bool
    first: bool
    kept: int
    filed: bool
    """Whether layer and topic were proposed as the entry that is gone had them."""
    seconds: float
    said: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", type=Path)
    parser.add_argument("--cases", dest="number", type=int, default=10)
    parser.add_argument("--show", action="store_true", help="what record says where something is wrong")
    options = parser.parse_args()
    knowledge = Knowledge.load([])
    logs = [p for p in sorted(options.cases.rglob("*.log")) if p.with_suffix(".yaml").exists()]
    texts = {path: path.read_text("utf-8", "replace") for path in logs}
    chosen = one_for_each_entry(texts, knowledge)
    step = max(1, len(chosen) // options.number)
    outcomes = []
    for path, id in chosen[::step][: options.number]:
        outcome = round_trip(path, id, texts)
        outcomes.append(outcome)
        print(f"{outcome.stem:50.50s} {marks(outcome)}", flush=True)
        if options.show and not (outcome.valid and outcome.first and outcome.kept == NEIGHBOURS):
            print(outcome.said)
    total = len(outcomes)
    print(f"valid {sum(o.valid for o in outcomes)} of {total}, first {sum(o.first for o in outcomes)} of {total}")
    print(f"others keep their answer: {sum(o.kept for o in outcomes)} of {NEIGHBOURS * total}")
    print(f"layer and topic as before: {sum(o.filed for o in outcomes)} of {total}")
    seconds = [outcome.seconds for outcome in outcomes]
    print(f"seconds: median {statistics.median(seconds):.1f}, longest {max(seconds):.1f}")


def marks(outcome: Outcome) -> str:
    """The row of one case."""
    valid, first = ("valid" if outcome.valid else "FAULTY"), ("first" if outcome.first else "NOT FIRST")
    return f"{valid:7s} {first:10s} {outcome.kept}/{NEIGHBOURS} kept  {outcome.seconds:.1f} s"


def one_for_each_entry(texts: dict[Path, str], knowledge: Knowledge) -> list[tuple[Path, str]]:
    """(paste, id of its first claim), each id once."""
    found: dict[str, Path] = {}
    for path, text in texts.items():
        if (id := first_claim(text, knowledge)) and knowledge.entry(id):
            found.setdefault(id, path)
    return [(path, id) for id, path in found.items()]


def first_claim(text: str, knowledge: Knowledge) -> str | None:
    claims = diagnose(text, knowledge, suggest=False).claims
    return claims[0].entry["id"] if claims else None


def round_trip(path: Path, id: str, texts: dict[Path, str]) -> Outcome:
    """Take the entry out, record it anew, and look at the answers."""
    with tempfile.TemporaryDirectory() as folder:
        kb = Path(folder) / "kb"
        shutil.copytree(locations.builtin_kb_directory(), kb)
        file = next(kb.rglob(f"{id}.yaml"))
        gone = yaml.safe_load(file.read_text("utf-8"))
        file.unlink()
        others = {other: text for other, text in texts.items() if other != path}
        nearest = [key for _, _, key in process.extract(texts[path], others, scorer=fuzz.ratio, limit=NEIGHBOURS)]
        before = answers(kb, [texts[other] for other in nearest])
        start = time.perf_counter()
        done = record(kb, path, gone)
        seconds = time.perf_counter() - start
        new = next(kb.rglob("recorded.yaml"), None)
        first, *after = answers(kb, [texts[path], *(texts[other] for other in nearest)])
        kept = sum(one == two for one, two in zip(before, after, strict=True))
        written: dict[str, Any] = yaml.safe_load(new.read_text("utf-8")) if new else {}
        filed = all(written.get(name) == gone[name] for name in ("layer", "topic"))
        said = f"{done.stdout}{done.stderr}{written.get('match')}"
        return Outcome(path.stem, done.returncode == 0, first == "recorded", kept, filed, seconds, said)


def answers(kb: Path, texts: list[str]) -> list[str | None]:
    """The first claim on each text."""
    knowledge = Knowledge(compile_knowledge([kb], "benchmark"))
    return [first_claim(text, knowledge) for text in texts]


def record(kb: Path, path: Path, gone: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    """The command as a user calls it who knows title, cause and fix."""
    words = ["--id", "recorded", "--severity", gone["severity"], "--yes", "--kb", str(kb)]
    for name, texts in (("title", gone["title"]), ("cause", gone["cause"]), ("fix", gone["fix"][0])):
        words += [f"--{name}={SLOT.sub('...', texts['en'])}", f"--{name}-zh={SLOT.sub('...', texts['zh'])}"]
    words += ["--fix-run", gone["fix"][0]["run"]] if gone["fix"][0].get("run") else []
    command = [sys.executable, "-c", COMMAND, str(kb), "record", str(path), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    main()
