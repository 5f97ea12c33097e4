"""vLLM-Ascend, triton-ascend, MindSpore and other products with what they pin."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.specifiers import SpecifierSet

from npu_kb.environment.names import NAMES, NAMES_ZH
from npu_kb.environment.verdict import Machine, Matrix, Rule, State, Verdict, listed, named, say
from npu_kb.knowledge.base import Document
from npu_kb.releases import bound, fits, fits_any, lowest, release

_SUPPORT: dict[str, tuple[State, str, str]] = {
    "yes": ("matched", "runs", "支持"),
    "no": ("unsupported", "does not run", "不支持"),
}
_PRODUCTS = {"mindie": "MindIE", "mindspeed": "MindSpeed"}


def pins(owner: str, component: str) -> Rule:
    """The rule for a release of `owner` and a component that its row names."""

    def rule(matrix: Matrix, machine: Machine, version: str, found: str) -> Verdict:
        row = _row(matrix, owner, version)
        wanted = row.get(component) if row else None
        name = matrix.cann(found) if component == "cann" else found
        if row and component == "python" and isinstance(wanted, str):
            return say(_in_python_range(wanted, found), _texts(owner, component, version, wanted, found), row)
        if row and wanted and fits_any(_minor(name) if component == "python" else name, named(row, component)):
            texts = _texts(owner, component, version, listed(named(row, component)), found)
            return say("matched", texts, row, about=component)
        if used := next(_in_use(matrix, owner, component, version, name), None):
            return say("compatible", _used_texts(owner, component, version, found), used)
        if row is None or not wanted:
            return _unlisted(owner, component, version, row)
        return _not_pinned(row, owner, component, version, name)

    return rule


def _minor(python: str) -> str:
    return ".".join(python.split(".")[:2])


def _in_python_range(wanted: str, found: str) -> State:
    return "matched" if SpecifierSet(wanted).contains(release(found) or "0", prereleases=True) else "unsupported"


def _in_use(matrix: Matrix, owner: str, component: str, version: str, found: str) -> Iterator[Document]:
    """Stacks of vLLM-Ascend that hold both."""
    for row in matrix.rows("vllm_ascend") if owner != "vllm_ascend" and component != "python" else []:
        if fits_any(version, named(row, owner)) and fits_any(found, named(row, component)):
            yield row


def _row(matrix: Matrix, owner: str, version: str) -> Document | None:
    if owner not in _PRODUCTS:
        return matrix.row(owner, version)
    rows = (row for row in matrix.rows("product") if row["product"] == _PRODUCTS[owner])
    return next((row for row in rows if row["version"] == version or fits(version, row["version"])), None)


def _unlisted(owner: str, component: str, version: str, row: Document | None) -> Verdict:
    one, other = NAMES[owner], NAMES[component]
    texts = (
        f"No source says which {other} {one} {version} needs; look at its release notes.",
        f"没有来源说明 {one} {version} 需要哪个 {NAMES_ZH.get(component, other)}，请查其版本说明。",
    )
    return say("unknown", texts, [])


def _texts(owner: str, component: str, version: str, wanted: str, found: str) -> tuple[str, str]:
    one, other = NAMES[owner], NAMES[component]
    return (
        f"{one} {version} pins {other} {wanted}; it is {found}.",
        f"{one} {version} 要求 {NAMES_ZH.get(component, other)} {wanted.replace(', ', '、')}，当前为 {found}。",
    )


def _used_texts(owner: str, component: str, version: str, found: str) -> tuple[str, str]:
    one, other = NAMES[owner], NAMES[component]
    return (
        f"A published stack runs {one} {version} with {other} {found}.",
        f"有已发布的软件栈将 {one} {version} 与 {NAMES_ZH.get(component, other)} {found} 一起使用。",
    )


def _not_pinned(row: Document, owner: str, component: str, version: str, found: str) -> Verdict:
    """What is off the pinned set is open, unless a source rules it out."""
    wanted = named(row, component)
    texts = _texts(owner, component, version, listed(wanted), found)
    if fits_any(found, row.get("also", [])):
        return say("compatible", texts, row, about=component)
    if _is_ruled_out(owner, component, wanted, found):
        return say("unsupported", texts, row, about=component)
    look = (
        f"{texts[0]} No source speaks of this pair: try it first.",
        f"{texts[1]}没有来源提到这一组合，请先试运行。",
    )
    return say("unknown", look, row, about=component)


def _is_ruled_out(owner: str, component: str, wanted: list[str], found: str) -> bool:
    """Python without a wheel; for vLLM-Ascend another line of torch or vLLM, a pre-release of it, or an older CANN."""
    given, least = release(found), lowest(wanted)
    if given is None or least is None or owner != "vllm_ascend":
        return component == "python" and given is not None
    if component == "cann":
        return given < least
    lines = {least.release[:3] for least in map(bound, wanted) if least}
    early = given.is_prerelease and not least.is_prerelease
    return component in ("torch", "torch_npu", "vllm") and (given.release[:3] not in lines or early)


def triton_ascend_triton(matrix: Matrix, machine: Machine, version: str, triton: str) -> Verdict:
    """Whether the community's triton may be installed beside it."""
    row = matrix.row("triton_ascend", version)
    if row is None:
        texts = (
            f"No source says whether triton {triton} may stay beside triton-ascend {version}.",
            f"没有来源说明 triton {triton} 能否与 triton-ascend {version} 共存。",
        )
        return say("unknown", texts, [])
    if row["coexists"]:
        texts = (f"triton-ascend {version} may stand beside triton.", f"triton-ascend {version} 可与 triton 共存。")
        return say("matched", texts, row)
    texts = (
        f"triton-ascend {version} and triton overwrite each other's files: triton {triton} must not be installed.",
        f"triton-ascend {version} 与 triton 会互相覆盖文件，不能同时安装 triton {triton}。",
    )
    run = f"pip uninstall -y triton triton-ascend && pip install triton-ascend=={version}"
    mend = {"en": f"Uninstall triton: {run}", "zh": f"卸载 triton：{run}", "run": run}
    return say("unsupported", texts, row)._replace(mend=mend)


def triton_chip(matrix: Matrix, machine: Machine, version: str, chip: str) -> Verdict:
    """Whether a source says that triton-ascend runs on the chip, or that it does not."""
    for row in matrix.rows("chip_fact"):
        if row["fact"] == NAMES["triton_ascend"] and row["applies_to"] == chip:
            return say("unsupported", (f"triton-ascend does not run on {chip}.", f"triton-ascend 不支持 {chip}。"), row)
    if rows := [row for row in _chip_rows(matrix, chip) if row["vllm_ascend"] == "yes"]:
        texts = (
            f"vLLM-Ascend, which brings triton-ascend, runs on {chip}.",
            f"自带 triton-ascend 的 vLLM-Ascend 支持 {chip}。",
        )
        return say("compatible", texts, rows[0])
    texts = (
        f"No source says whether triton-ascend runs on {chip}.",
        f"没有来源说明 triton-ascend 是否支持 {chip}。",
    )
    return say("unknown", texts, [])


def vllm_chip(matrix: Matrix, machine: Machine, version: str, chip: str) -> Verdict:
    """Whether vLLM-Ascend runs on chips of this family."""
    rows = _chip_rows(matrix, chip)
    if not rows:
        texts = (f"No source speaks of vLLM-Ascend on {chip}.", f"没有来源说明 vLLM-Ascend 是否支持 {chip}。")
        return say("unknown", texts, [])
    support = rows[0]["vllm_ascend"]
    state, en, zh = _SUPPORT.get(support, ("compatible", "runs with limits", "有限支持"))
    extent = f" ({support})" if state == "compatible" else ""
    return say(state, (f"vLLM-Ascend {en} on {chip}{extent}.", f"vLLM-Ascend {zh} {chip}{extent}。"), rows[0])


def _chip_rows(matrix: Matrix, chip: str) -> list[Document]:
    """The rows of this family that speak of vLLM-Ascend."""
    return [row for row in matrix.rows("chip") if row["family"] == chip and row.get("vllm_ascend")]
