"""The shape of kb/matrix/*.yaml: which versions go together, what chips are, which limits hold, and what was tried.

A file names its `table`; its rows stand one on a line. Releases are words of one text: `"8.5.0 9.0.X"`. A row's
`source` is a name from the file's `sources`, or the source itself.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from npu_kb.knowledge.entry import Chip, Component, Model
from npu_kb.knowledge.matrixrow import Labels, PythonRange, Ranges, Release, Releases, Row, Text


class TorchNpu(Row):
    """A release of torch_npu; `cann` is what it is paired with, `python` the matrix, the rest the real wheels."""

    KEY = ("torch_npu",)
    torch_npu: Release
    torch: Release
    cann: Releases = Field(default=[])
    generation: Release | None = None
    python: Releases = Field(default=[])
    aarch64: Releases = Field(default=[])
    x86_64: Releases = Field(default=[])
    branch: Text | None = None
    uploaded: Text | None = None
    pypi: bool
    kind: Literal["active", "historic", "patch", "rc", "pypi-only", "branch-head"]


class TorchLine(Row):
    """How long torch_npu keeps a release line of torch up."""

    KEY = ("torch",)
    torch: Release
    since: Text | None = None
    state: Text
    until: Text | None = None


class TorchNpuCann(Row):
    """The CANN releases that a generation of torch_npu works with."""

    KEY = ("generation", "status")
    generation: Release
    cann: Releases = Field(min_length=1)
    status: Literal["compatible", "in-use"]


class CannDriver(Row):
    """The driver packages (HDK) that go with CANN: on all chips or some, for all or for one feature."""

    KEY = ("cann", "scope", "feature")
    cann: Releases = Field(min_length=1)
    scope: Text | None = None
    chips: list[Chip] = Field(default=[])
    feature: Text | None = None
    recommended: Releases = Field(default=[])
    compatible: Releases = Field(default=[])
    incompatible: Releases = Field(default=[])
    minimum: Release | None = None
    labels: Labels = Field(default=[])


class Driver(Row):
    """What the files of a driver say; `firmware` was seen beside it, from HDK `firmware_hdk` if that is another one."""

    KEY = ("driver",)
    driver: Release
    innerversion: Text | None = None
    accepts: Labels = Field(default=[])
    firmware_range: Ranges = Field(default=[])
    firmware: Release | None = None
    firmware_hdk: Release | None = None
    chips: list[Chip]
    fidelity: Literal["verbatim", "doc-example", "doc", "issue"]


class CannLabel(Row):
    """The releases of CANN that carry a C-number, and other names of the same release."""

    KEY = ("label",)
    label: Annotated[str, Field(pattern=r"^C\d{2}$")]
    cann: Releases = Field(default=[])
    also: Releases = Field(default=[])
    seen: Text | None = None


class CannPython(Row):
    """The Python that CANN allows."""

    KEY = ("cann",)
    cann: Releases = Field(min_length=1)
    python: PythonRange


class VllmAscend(Row):
    """A release of vLLM-Ascend and the stack that it pins; `also`: further CANN that a source names."""

    KEY = ("vllm_ascend",)
    vllm_ascend: Release
    vllm: Releases = Field(min_length=1)
    torch: Release | None = None
    torch_npu: Release | None = None
    cann: Release | None = None
    also: Releases = Field(default=[])
    python: PythonRange | None = None
    triton_ascend: Release | None = None
    mooncake: Text | None = None
    mindie_turbo: Release | None = None
    released: Text | None = None


class TritonAscend(Row):
    """A release of triton-ascend; `coexists`: with the community triton."""

    KEY = ("triton_ascend",)
    triton_ascend: Release
    python: Releases = Field(default=[])
    cann: Releases = Field(default=[])
    torch: Releases = Field(default=[])
    torch_npu: Releases = Field(default=[])
    coexists: bool
    where: Text


class MindSpore(Row):
    """A release of MindSpore."""

    KEY = ("mindspore",)
    mindspore: Release
    cann: Releases = Field(default=[])
    driver: Releases = Field(default=[])
    python: Releases = Field(default=[])
    mindformers: Text | None = None


class Product(Row):
    """Anything else that names the versions it needs; `also`: further CANN that it works with."""

    KEY = ("product", "version")
    product: Text
    version: Text
    cann: Releases = Field(default=[])
    also: Releases = Field(default=[])
    torch: Releases = Field(default=[])
    torch_npu: Releases = Field(default=[])
    generation: Releases = Field(default=[])
    driver: Releases = Field(default=[])
    python: Releases = Field(default=[])
    released: Text | None = None


class ChipRow(Row):
    """A chip; memory in MB."""

    KEY = ("soc",)
    soc: Text
    npu_smi: Text
    family: Chip
    arch: Text | None = None
    enum: int | None = None
    memory: Text | None = None
    memory_kind: Text
    ai_cores: Text | None = None
    dies: Text | None = None
    bf16: Text
    products: Text | None = None
    cann_package: Text
    vllm_ascend: Text | None = None


class ChipFact(Row):
    """A fact about several chips."""

    KEY = ("fact", "applies_to")
    fact: Text
    applies_to: Text
    value: Text


class Threshold(Row):
    """A default, a limit, or what was seen on healthy machines."""

    KEY = ("id",)
    id: Annotated[str, Field(pattern=r"^T\d{3,}$")]
    topic: Text
    fact: Text
    value: Text
    unit: Text | None = None
    applies_to: Text


TABLES: dict[str, type[Row]] = {
    "torch_npu": TorchNpu, "torch": TorchLine, "torch_npu_cann": TorchNpuCann, "cann_driver": CannDriver,
    "driver": Driver, "cann_label": CannLabel, "cann_python": CannPython, "vllm_ascend": VllmAscend,
    "triton_ascend": TritonAscend, "mindspore": MindSpore, "product": Product, "chip": ChipRow,
    "chip_fact": ChipFact, "threshold": Threshold,
}  # fmt: skip
TableName = Literal[
    "torch_npu", "torch", "torch_npu_cann", "cann_driver", "driver", "cann_label", "cann_python", "vllm_ascend",
    "triton_ascend", "mindspore", "product", "chip", "chip_fact", "threshold",
]  # fmt: skip


class Table(Model):
    """A file of kb/matrix."""

    table: TableName
    sources: dict[str, Text] = Field(default={})
    rows: list[dict[str, Any]]


class Remark(Model):
    """A note in one language or both."""

    en: Text | None = None
    zh: Text | None = None

    @model_validator(mode="after")
    def _one_language(self) -> Remark:
        if not (self.en or self.zh):
            raise ValueError("write en, zh or both")
        return self


class Tried(Model):
    """A combination that somebody has run: a file of kb/matrix/tried."""

    chip: Chip | None = None
    versions: dict[Component, Release] = Field(min_length=1)
    operators: list[Text] = Field(default=[])
    settings: dict[Text, Text] = Field(default={})
    workload: Text
    result: Literal["works", "fails", "slow"]
    note: Remark | None = None
    by: Text
    date: datetime.date
    reference: Text | None = None
