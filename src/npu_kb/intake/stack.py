"""Which vendor's accelerators a log speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property

_ASCEND = (
    r"昇腾|compiler_depend\.ts|lib(?:ascend|hccl|npu)|(?<![a-z])(?:torch_npu|npu[-_]smi|npu::?\w|npu_[a-z]|ascend(?!ing|ed|er|ant)"
    r"|hccl|hccn|cann(?!ot|[a-z])|aclnn|acl(?:rt|graph|mdl|op)?(?![a-z])|atb(?![a-z])|davinci|hisi|mindspore"
    r"|mindie|mindx|mindspeed|megatron_adaptor|msmodelslim|llmdatadist|msrun|devmm|devdrv|drvmngr|plog(?![a-z])|tbe(?![a-z])|te_fusion|bishengir|bisheng|torchair|aicore|aicpu"
    r"|err0\d{4}|err99999|rankid:|dcmi|910[ab]|910_93|310[pb]|slog(?:d|_)|tsdaemon|msnpureport|e[a-z]9999|e[ijlz]0\d{3})"
)
_SURE = (
    r"\[(?:error|warning|info|event|debug)\] "
    r"(?:runtime|hccl|hccp|roce|ge|fe|tefusion|drv|ascendcl|aicpu|tsch|tdt|tsd|op|profiling|dvpp)\(\d+,"
    r"|available for these backends: \[[^\]\n]{0,400}(?<![a-z])npu"
)
"""What only programs on Ascend print: the head of a plog line, and a list of torch's back ends with torch_npu's."""
_NPU = r"(?<![a-z])npu"
"""What other vendors call their processors too."""
_FOREIGN = (
    r"(?<![a-z])(?:cuda(?!_?graph)|nvidia|nccl|nvrm|nvlink|nvml|cudnn|cublas|rocm|hip(?:error|blas|cc)|miopen|amdgpu"
    r"|xpu(?![a-z])|level_zero|oneccl|mlx5|tpu(?![a-z])|habana|hpu(?![a-z])|musa(?![a-z])|mlu(?![a-z]))"
)
_FOREIGN_DEVICE = (
    r"(?<![a-z])(?:nvidia[ -](?:smi|geforce|tesla|quadro|rtx|gtx|[abhlptv]\d)|platform cuda|intel[_ ](?:vpu|npu)"
    r"|openvino|rknpu|rknn|rk3[35]\d\d|qnn(?![a-z])|hexagon|amdxdna|ryzen ai|ethos-?[un])"
)
"""Another device that the log was written on, beside which the bare word NPU says nothing of Ascend."""
_WINDOWS = r"\[winerror \d|mindspore\\(?:lite|core|ccsrc)\\"
"""A host that no Ascend software runs on."""
_IN_PASSING = (
    r"(?:is_)?(?:torch_)?npu[ _]available\W{0,3}(?:false|no)?"
    r"|[:=({\[][^\n]{0,20}?(?:cuda[,|/ ]{1,2}npu(?![\w:-])|npu[,|/ ]{1,2}cuda)"
    r"|\W?ascend\W? or \W?descend"
)
"""Where NPUs are named by programs for any device."""


class Stack:
    """Whose accelerators a text speaks of, found out when first asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def is_ascend(self) -> bool:
        """Whether it names anything of Ascend's."""
        return speaks_of_ascend(self._text)

    @cached_property
    def is_foreign(self) -> bool:
        """Whether it names another vendor's and nothing of Ascend's."""
        return is_foreign(self._text)


def is_foreign(text: str) -> bool:
    """The text speaks of another vendor's accelerators and nowhere of Ascend, or comes from Windows."""
    lower = text.lower()
    return _says(_WINDOWS, lower) or (
        not _is_of_ascend(lower) and (_says(_FOREIGN, lower) or _says(_FOREIGN_DEVICE, lower))
    )


def speaks_of_ascend(text: str) -> bool:
    """Whether a text names anything of the Ascend stack."""
    return _is_of_ascend(text.lower())


def _is_of_ascend(lower: str) -> bool:
    names_npu = False
    if _says(_SURE, lower):
        return True
    for line in _lines_with(f"{_ASCEND}|{_NPU}", lower):
        meant = _regex(_IN_PASSING).sub(" ", line)
        if _says(_ASCEND, meant):
            return True
        names_npu = names_npu or _says(_NPU, meant)
    return names_npu and not _says(_FOREIGN_DEVICE, lower)


def _lines_with(pattern: str, text: str) -> Iterator[str]:
    """Each line in which the pattern is found."""
    end = 0
    while found := _regex(pattern).search(text, end):
        start, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
        end = len(text) if end < 0 else end
        yield text[start:end]


def _says(pattern: str, text: str) -> bool:
    return _regex(pattern).search(text) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
