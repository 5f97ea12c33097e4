"""torch_npu with torch, Python and CANN."""

from __future__ import annotations

from collections.abc import Iterator

from npu_kb.environment.verdict import Machine, Matrix, State, Verdict, listed, named, say
from npu_kb.knowledge.base import Document
from npu_kb.releases import bound, fits, fits_any, highest, release

_OWN_RULE = "github.com/Ascend/pytorch COMPATIBILITY.md: the first three numbers of torch and torch_npu are equal"


def torch_npu_torch(matrix: Matrix, machine: Machine, npu: str, torch: str) -> Verdict:
    """The first three numbers must be equal."""
    row, given, have = matrix.row("torch_npu", npu), release(npu), release(torch)
    if given is None or have is None:
        return say("unknown", ("One of the versions cannot be read.", "有一个版本号无法识别。"), [])
    wanted = row["torch"] if row else _three(given.release)
    texts = (
        f"torch_npu {npu} is built for torch {wanted}; torch is {torch}.",
        f"torch_npu {npu} 对应 torch {wanted}，当前 torch 为 {torch}。",
    )
    same = _three(have.release) == _three(release(wanted).release)  # type: ignore[union-attr]
    return say("matched" if same else "unsupported", texts, row or [], "" if row else _OWN_RULE, "torch")


def _three(numbers: tuple[int, ...]) -> str:
    return ".".join(map(str, (*numbers, 0, 0)[:3]))


def torch_npu_python(matrix: Matrix, machine: Machine, npu: str, python: str) -> Verdict:
    """The wheel must exist for this Python and architecture; where there are no wheels, the matrix counts."""
    row, minor = matrix.row("torch_npu", npu), ".".join(python.split(".")[:2])
    if row is None or not (row["python"] or row["aarch64"] or row["x86_64"]):
        texts = (f"Nothing is published about Python for torch_npu {npu}.", f"未找到 torch_npu {npu} 的 Python 配套。")
        return say("unknown", texts, [])
    wheels = {arch: row[arch] for arch in ("aarch64", "x86_64") if machine.arch in (None, arch)}
    if not any(wheels.values()):
        texts = (
            f"No wheel of torch_npu {npu} is on PyPI; its matrix names Python {listed(row['python'])}.",
            f"PyPI 上没有 torch_npu {npu} 的 wheel；配套表为 Python {listed(row['python'], '、')}。",
        )
        return say("compatible" if minor in row["python"] else "unsupported", texts, row, about="python")
    have = [arch for arch, minors in wheels.items() if minor in minors]
    alike = row["aarch64"] == row["x86_64"]
    told = listed(row["aarch64"]) if alike else "; ".join(f"{arch}: {listed(have)}" for arch, have in wheels.items())
    texts = (
        f"Wheels of torch_npu {npu} exist for Python {told}; Python is {minor}.",
        f"torch_npu {npu} 的 wheel 支持 Python {told.replace(', ', '、')}，当前为 Python {minor}。",
    )
    state: State = "matched" if len(have) == len(wheels) else "compatible" if have else "unsupported"
    return say(state, texts, row, about="python")


def torch_npu_cann(matrix: Matrix, machine: Machine, npu: str, cann: str) -> Verdict:
    """Paired, in the window of its generation, in use somewhere, outside, or not known."""
    row, name = matrix.row("torch_npu", npu), matrix.cann(cann)
    if row and fits_any(name, row["cann"]):
        pairs = (
            f"torch_npu {npu} is paired with CANN {listed(row['cann'])}.",
            f"torch_npu {npu} 与 CANN {listed(row['cann'], '、')} 配套。",
        )
        return say("matched", pairs, row, about="cann")
    windows = _windows(matrix, row)
    paired, paired_zh = (listed(row["cann"], mark) if row else "-" for mark in (", ", "、"))
    for window in windows:
        if fits_any(name, window["cann"]):
            texts = (
                f"Not the paired CANN ({paired}), but generation {row['generation']} works with it." if row else "",
                f"不是推荐配套的 CANN（{paired_zh}），但 torch_npu {row['generation']} 系列可与其配合使用。"
                if row
                else "",
            )
            return say("compatible", texts, window)
    if used := next(_in_use(matrix, row, npu, name), None):
        texts = (
            f"Not the paired CANN ({paired}), but a published stack runs this pair.",
            f"不是推荐配套的 CANN（{paired_zh}），但有已发布的软件栈使用这一组合。",
        )
        return say("compatible", texts, used)
    return _outside(matrix, row, windows, npu, name)


def _windows(matrix: Matrix, row: Document | None) -> list[Document]:
    """The rows for the generation; those that a release note states come first."""
    generation = row.get("generation") if row else None
    if generation is None:
        return []
    rows = [window for window in matrix.rows("torch_npu_cann") if fits(generation, window["generation"])]
    return sorted(rows, key=lambda window: str(window["status"]))


def _in_use(matrix: Matrix, row: Document | None, npu: str, cann: str) -> Iterator[Document]:
    """Rows of other products that name both, or the generation and CANN."""
    generation = row.get("generation") if row else None
    for table in ("vllm_ascend", "triton_ascend", "product"):
        for other in matrix.rows(table):
            of_generation = generation and fits_any(generation, other.get("generation", []))
            if (fits_any(npu, named(other, "torch_npu")) or of_generation) and fits_any(cann, named(other, "cann")):
                yield other


def _outside(matrix: Matrix, row: Document | None, windows: list[Document], npu: str, cann: str) -> Verdict:
    stated = [window for window in windows if window["status"] == "compatible"]
    noted = [window for window in matrix.rows("torch_npu_cann") if window["status"] == "compatible"]
    newest = highest(name for window in noted for name in window["cann"])
    given = bound(cann)
    if row and stated and newest and given and given.release[:2] <= newest.release[:2]:
        works = listed(name for window in windows for name in window["cann"])
        texts = (
            f"torch_npu {npu} (generation {row['generation']}) works with CANN {works}; {cann} is not among them.",
            f"torch_npu {npu}（{row['generation']} 系列）支持的 CANN 为 {works.replace(', ', '、')}，不含 {cann}。",
        )
        return say("unsupported", texts, [row, *stated], about="cann")
    paired = listed(row["cann"]) if row and row["cann"] else None
    texts = (
        f"No source says whether torch_npu {npu} works with CANN {cann}"
        + (f"; it is paired with {paired}." if paired else "; its pairing is not published.")
        + " Look at the release notes of TorchNPU, and try `import torch_npu` and one operator.",
        f"没有来源说明 torch_npu {npu} 能否用于 CANN {cann}"
        + (f"；其配套为 {paired.replace(', ', '、')}。" if paired else "；其配套未公布。")
        + "请查 TorchNPU 版本说明，并试运行 `import torch_npu` 和一个算子。",
    )
    return say("unknown", texts, row if row and paired else [], about="cann")
