"""How often is a verdict right? The reliability of `certain` and `likely`, by cross-validation.

    python benchmarks/calibration.py CASES_DIR... [--folds 5] [--seed 1]

Cases are pairs STEM.log and STEM.yaml; the label holds `answer` (regexes that the right answer's texts all match),
`not_answer`, and `expect` where nothing may be claimed. A first answer with a claim counts as right or wrong for its
verdict. For each fold, the least weight of matched text that a verdict needs is chosen on the other folds so that the
verdict reaches its target there (certain 97%, likely 85%), and applied to the fold: the table adds up the folds.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from npu_kb import Knowledge, diagnose
from npu_kb.render.document import match_document

TARGETS = {"certain": 0.97, "likely": 0.85}
WEAKER = {"certain": "likely", "likely": "possible"}


class Answer(NamedTuple):
    """The first answer to a case: its verdict, the weight of its text, and whether it is right."""

    verdict: str
    weight: int
    right: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="+", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    knowledge = Knowledge.load()
    logs = sorted(p for d in options.cases for p in d.rglob("*.log") if p.with_suffix(".yaml").exists())
    answers = [a for a in (first_answer(path, knowledge) for path in logs) if a]
    random.Random(options.seed).shuffle(answers)
    judged = [verdict for fold in range(options.folds) for verdict in held_out(answers, fold, options.folds)]
    print(f"{len(logs)} cases, {len(answers)} answered with a claim, {options.folds} folds")
    print("verdict  claims  right")
    for verdict in TARGETS:
        hits = [right for name, right in judged if name == verdict]
        share = f"{100 * sum(hits) / len(hits):.1f}%" if hits else "none"
        print(f"{verdict:8s} {len(hits):6d}  {sum(hits)} = {share}")


def first_answer(path: Path, knowledge: Knowledge) -> Answer | None:
    """The first claim on a case; None without one."""
    label = yaml.safe_load(path.with_suffix(".yaml").read_text("utf-8"))
    claims = diagnose(path.read_bytes(), knowledge, suggest=False).claims
    if label.get("expect"):
        claims = [claim for claim in claims if claim.entry["severity"] != "benign"]
    if not claims:
        return None
    document = match_document(claims[0], knowledge)
    document.pop("evidence")
    return Answer(claims[0].verdict, claims[0].weight, not label.get("expect") and is_right(document, label))


def is_right(document: dict[str, Any], label: dict[str, Any]) -> bool:
    """Whether the texts of an answer match the label."""
    body = json.dumps(document, ensure_ascii=False)

    def hit(pattern: str) -> bool:
        return re.search(pattern, body, re.I | re.S | re.A) is not None

    return all(map(hit, label.get("answer") or [])) and not any(map(hit, label.get("not_answer") or []))


def held_out(answers: list[Answer], fold: int, folds: int) -> list[tuple[str, bool]]:
    """(verdict, right) of the fold's answers under the least weights that the other folds ask for."""
    training = [a for i, a in enumerate(answers) if i % folds != fold]
    least = {verdict: least_weight(training, verdict) for verdict in TARGETS}
    result = []
    for answer in answers[fold::folds]:
        verdict = answer.verdict
        while verdict in least and answer.weight < least[verdict]:
            verdict = WEAKER[verdict]
        result.append((verdict, answer.right))
    return result


def least_weight(training: list[Answer], verdict: str) -> int:
    """The smallest weight from which on a verdict reaches its target."""
    mine = [a for a in training if a.verdict == verdict]
    for weight in sorted({0, *(a.weight + 1 for a in mine)}):
        kept = [a.right for a in mine if a.weight >= weight]
        if not kept or sum(kept) >= TARGETS[verdict] * len(kept):
            return weight
    return 0


if __name__ == "__main__":
    main()
