"""The smallest change that makes a set of versions right: the fewest and cheapest components, by the matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations

from npu_kb.environment.names import NAMES, name_of
from npu_kb.environment.rules import PAIRS, Pair
from npu_kb.environment.rules_driver import driver_rows, hdk_of, python_limit
from npu_kb.environment.verdict import GOOD, Machine, Matrix, Texts, Verdict, named
from npu_kb.releases import release

COSTS = {
    "vllm_ascend": 2, "vllm": 2, "torch": 2, "torch_npu": 2, "triton_ascend": 2, "mindspore": 2, "mindie": 3,
    "python": 3, "cann": 5, "kernels": 1, "firmware": 4, "driver": 8,
}  # fmt: skip
"""What changing a component takes: a wheel little, CANN more, the driver of a whole machine most.

What pins most of the others comes first, so that few releases of these have to be tried.
"""
_TOGETHER = {"torch_npu": "torch", "vllm_ascend": "vllm", "kernels": "cann", "firmware": "driver"}
"""What is installed in one step with another component."""
_MOST_CHANGES = 7
_MOST_TRIALS = 50_000
"""Releases that are tried in a pass."""
NOT_CHANGED = ("chip", "triton")
"""What is no matter of releases: a pair with it is mended otherwise, or not at all."""
_SELDOM_KNOWN = ("cann", "python")
"""The pair of which sources say so little that it may stay open."""
_WITH_FINALS = ("vllm_ascend", "vllm", "torch", "torch_npu", "triton_ascend")
"""Components whose release candidates are no releases, as those of CANN and of the driver are."""
_SERVING = ("vllm_ascend", "vllm")
"""Components whose features one asked for: rather change what lies below them than take an older one."""
_PASSES = [(True, False), (True, True), (False, True)]
"""At first only welcome releases in sets that some source speaks of; then any releases in such sets; then all sets."""
Rank = tuple[int, int, int]
"""How many pairs rest on inference alone, less how many are matched, how far the releases are from the present ones."""
_ONE_WAY = ("cann", "driver")
"""An HDK is recommended for a CANN; among CANNs that a driver runs, none is better for being the one it came with."""
_PYTHONS = [f"3.{minor}" for minor in range(8, 15)]

Judge = Callable[[Pair, str, str], Verdict]


def smallest_change(matrix: Matrix, machine: Machine, judge: Judge) -> dict[str, str]:
    """{component: the release to change it to}; empty where nothing has to change, or no published set is near."""
    found = machine.found
    wrong = [pair for pair in _pairs(found) if judge(pair, found[pair.left], found[pair.right]).state == "unsupported"]
    wrong = [pair for pair in wrong if {pair.left, pair.right} & COSTS.keys() and pair.right not in NOT_CHANGED]
    if not wrong:
        return {}
    for known, any_release in _PASSES:
        search = _Search(matrix, machine, judge, any_release)
        for sets in _by_cost(found, wrong):
            solutions = [plan for names in sets for plan in search.plans(names, known)]
            if solutions:
                return min(solutions, key=lambda item: item[0])[1]
    return {}


def _pairs(found: dict[str, str]) -> list[Pair]:
    return [pair for pair in PAIRS if pair.left in found and pair.right in found]


def _by_cost(found: dict[str, str], wrong: list[Pair]) -> list[list[tuple[str, ...]]]:
    """Sets of components that touch every wrong pair: those of few steps first, of these the cheap ones."""
    names = [name for name in COSTS if name in found]
    sets: dict[tuple[int, int], list[tuple[str, ...]]] = {}
    for size in range(1, _MOST_CHANGES + 1):
        for chosen in combinations(names, size):
            is_whole = "driver" not in chosen or "firmware" not in found or "firmware" in chosen  # one HDK package
            if is_whole and all({pair.left, pair.right} & {*chosen} for pair in wrong):
                steps = len({_TOGETHER.get(name, name) for name in chosen})
                sets.setdefault((steps, sum(COSTS[name] for name in chosen)), []).append(chosen)
    return [sets[price] for price in sorted(sets)]


class _Search:
    """Tries releases for some components while all others stay."""

    def __init__(self, matrix: Matrix, machine: Machine, judge: Judge, any_release: bool) -> None:
        self._matrix, self._machine, self._judge, self._any_release = matrix, machine, judge, any_release
        self._trials = iter(range(_MOST_TRIALS))
        self._candidates: dict[str, list[str]] = {}

    def plans(self, names: tuple[str, ...], known: bool) -> Iterator[tuple[Rank, dict[str, str]]]:
        """((rank), plan) of the sets in which exactly these components differ and nothing is wrong."""
        fixed = {name: version for name, version in self._machine.found.items() if name not in names}
        yield from self._extend(fixed, list(names), {}, known, (0, 0, 0))

    def _extend(
        self, chosen: dict[str, str], rest: list[str], plan: dict[str, str], known: bool, rank: Rank
    ) -> Iterator[tuple[Rank, dict[str, str]]]:
        if not rest:
            yield rank, plan
            return
        name, *others = rest
        for place, version in enumerate(self._options(name)):
            if version == self._machine.found[name]:
                continue
            if next(self._trials, None) is None:
                return
            trial = {**chosen, name: version}
            pairs = [pair for pair in _pairs(trial) if name in (pair.left, pair.right)]
            if all(self._is_good(pair, trial, known) for pair in pairs):
                indirect, matched = self._worth(name, pairs, trial)
                further = (rank[0] + indirect, rank[1] - matched, rank[2] + place)
                yield from self._extend(trial, others, {**plan, name: version}, known, further)

    def _worth(self, name: str, pairs: list[Pair], versions: dict[str, str]) -> tuple[int, int]:
        """How many of the pairs of a changed component rest on inference alone, and how many are matched."""
        said = {pair: self._judge(pair, versions[pair.left], versions[pair.right]) for pair in pairs}
        counted = [v for pair, v in said.items() if name != "cann" or (pair.left, pair.right) != _ONE_WAY]
        return sum(v.is_indirect for v in said.values()), sum(v.state == "matched" for v in counted)

    def _is_good(self, pair: Pair, versions: dict[str, str], known: bool) -> bool:
        if pair.right in NOT_CHANGED:
            return True
        said = self._judge(pair, versions[pair.left], versions[pair.right])
        if said.state == "unknown":
            return not known or (pair.left, pair.right) == _SELDOM_KNOWN or self._was_open(pair, said)
        return said.state in GOOD and not said.mend

    def _was_open(self, pair: Pair, said: Verdict) -> bool:
        """Whether no source speaks of the pair, neither as it is nor as it would be."""
        found = self._machine.found
        return not said.source and not self._judge(pair, found[pair.left], found[pair.right]).source

    def _options(self, name: str) -> list[str]:
        if name not in self._candidates:
            found = self._machine.found[name]
            versions = _releases(self._matrix, self._machine, name)
            welcome = (version for version in versions if self._any_release or _is_welcome(name, version, found))
            self._candidates[name] = _nearest(welcome, found)
        return self._candidates[name]


def _is_welcome(name: str, version: str, found: str) -> bool:
    """Whether it is neither a release candidate in place of a release nor an older serving framework."""
    new, old = release(version), release(found)
    if name not in _WITH_FINALS or new is None or old is None:
        return True
    return (old.is_prerelease or not new.is_prerelease) and (name not in _SERVING or new >= old)


def _nearest(versions: Iterable[str], found: str) -> list[str]:
    """Each release once, those near to the present one first, of equally near ones the newer."""
    known = {parsed: version for version in versions if (parsed := release(version))}
    have = release(found)
    older = sorted((version for version in known if have and version < have), reverse=True)
    newer = sorted(version for version in known if version not in older)
    ranked = [*enumerate(newer, 0), *enumerate(older, 1)]
    return [known[version] for _, version in sorted(ranked, key=lambda item: item[0])]


def _releases(matrix: Matrix, machine: Machine, name: str) -> Iterator[str]:
    """The published releases of a component that one may change to."""
    if name == "python":
        yield from _PYTHONS
    elif name in ("driver", "firmware"):
        canns = [cann for row in matrix.rows("cann_driver") for cann in row["cann"]]
        yield from (hdk for cann in canns for hdk in hdk_of(driver_rows(matrix, machine, cann), machine))
        yield from (hdk for row in matrix.rows("mindspore") for hdk in named(row, "driver"))
        yield from machine.found.get("driver", "").split()
    elif name in ("cann", "kernels"):
        yield from machine.found.get("cann", "").split()
        rows = (row for row in matrix.rows("cann_driver") if row["recommended"] and "feature" not in row)
        yield from (cann for row in rows for cann in row["cann"] if "beta" not in cann and "alpha" not in cann)
    elif name == "torch_npu":
        good = ("active", "historic", "patch")
        yield from (row[name] for row in matrix.rows(name) if row["pypi"] and row["kind"] in good)
    elif name == "mindie":
        yield from (row["version"] for row in matrix.rows("product") if row["product"] == NAMES[name])
    else:
        table = {"torch": "torch_npu", "vllm": "vllm_ascend"}.get(name, name)
        yield from (version for row in matrix.rows(table) if row.get("cann") for version in named(row, name))


def change_texts(matrix: Matrix, plan: dict[str, str], found: dict[str, str]) -> Texts | None:
    """The change in words, with the commands where there are any; `run` is the one that installs all wheels."""
    if not plan:
        return None
    limit = python_limit(matrix, {**found, **plan}.get("cann", ""), plan.get("python", ""))
    parts = [_change(name, version, found[name], limit) for name, version in plan.items()]
    wheels = " ".join(f"{_WHEELS[name]}=={version}" for name, version in plan.items() if name in _WHEELS)
    return {
        "en": "Change " + "; ".join(en for en, _ in parts) + ".",
        "zh": "；".join(zh for _, zh in parts) + "。",
        **({"run": f"pip install {wheels}"} if wheels else {}),
    }


_WHEELS = {"torch": "torch", "torch_npu": "torch-npu", "vllm": "vllm", "vllm_ascend": "vllm-ascend",
           "mindspore": "mindspore"}  # fmt: skip


def _change(name: str, version: str, before: str, python_limit: str | None) -> tuple[str, str]:
    label, zh_label = name_of(name, "en"), name_of(name, "zh")
    what = f" {zh_label} " if zh_label.isascii() else zh_label
    en, zh = f"{label} {before} to {version}", f"将{what}从 {before} 改为 {version}"
    if wheel := _WHEELS.get(name):
        return f"{en} (pip install {wheel}=={version})", f"{zh}（pip install {wheel}=={version}）"
    if name == "cann":
        return f"{en} (toolkit, kernels or ops, and NNAL)", f"{zh}（toolkit、kernels/ops 与 NNAL）"
    if name == "python" and python_limit:
        return f"{en} (below {python_limit})", f"{zh}（低于 {python_limit}）"
    if name in ("driver", "firmware"):
        return (
            f"{label} {before} to that of HDK {version}, then reboot",
            f"将{what}从 {before} 改为 HDK {version} 的版本，然后重启",
        )
    return en, zh
