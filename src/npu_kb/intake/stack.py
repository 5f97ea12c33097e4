"""Which vendor's accelerators a log speaks of."""

from __future__ import annotations

import re
from functools import cache, cached_property

_ASCEND = (
    r"昇腾|compiler_depend\.ts|(?<![a-z])(?:npu|ascend|hccl|hccn|cann(?!ot|[a-z])|aclnn|acl(?:rt|graph|mdl|op)?(?![a-z])|atb(?![a-z])|davinci|hisi|mindspore"
    r"|mindie|mindx|mindspeed|megatron_adaptor|msmodelslim|llmdatadist|msrun|devmm|devdrv|drvmngr|plog(?![a-z])|tbe(?![a-z])|te_fusion|bishengir|bisheng|torchair|aicore|aicpu"
    r"|err0\d{4}|err99999|rankid:|dcmi|910[ab]|910_93|310[pb]|slog(?:d|_)|tsdaemon|msnpureport|e[a-z]9999|e[ijlz]0\d{3})"
)
_FOREIGN = (
    r"(?<![a-z])(?:cuda(?!_?graph)|nvidia|nccl|nvrm|nvlink|nvml|cudnn|cublas|rocm|hip(?:error|blas|cc)|miopen|amdgpu"
    r"|xpu(?![a-z])|intel_vpu|level_zero|oneccl|mlx5|tpu(?![a-z])|habana|hpu(?![a-z])|musa(?![a-z])|mlu(?![a-z]))"
)


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
    """The text speaks of another vendor's accelerators and nowhere of Ascend."""
    return _regex(_FOREIGN).search(text.lower()) is not None and not speaks_of_ascend(text)


def speaks_of_ascend(text: str) -> bool:
    """Whether a text names anything of the Ascend stack."""
    return _regex(_ASCEND).search(text.lower()) is not None


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
