"""The entry model: what one file under kb/entries/ may say.

This is for writing and checking knowledge; `why` reads the compiled form (see compile.py) and never imports pydantic.
"""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from npu_kb.knowledge.slug import SLUG
from npu_kb.patterns import TextPattern

Layer = Literal[
    "hardware", "driver", "container", "system", "cann", "framework", "operator", "communication", "serving", "model"
]
Severity = Literal["fault", "degraded", "benign"]
Role = Literal["root", "follow-on", "wrapper"]
Status = Literal["draft", "reported", "confirmed", "deprecated"]
Verdict = Literal["certain", "likely", "possible"]
Effect = Literal["read", "write", "restart", "reset", "replace"]
CodeFamily = Literal[
    "acl", "aclnn", "rt", "ts", "aicpu", "cann", "torch_npu", "hccl", "drv", "dcmi", "device", "aicore"
]
Component = Literal[
    "driver", "firmware", "cann", "torch", "torch_npu", "torchvision", "vllm", "vllm_ascend", "mindspore", "mindie",
    "triton_ascend", "transformers", "deepspeed", "mindspeed", "sglang", "python",
]  # fmt: skip
Chip = Literal["310", "310B", "310P", "910A", "910B", "910_93", "950"]

Sentence = Annotated[str, Field(min_length=2)]
Slug = Annotated[str, Field(pattern=rf"^{SLUG}$", max_length=70)]
Pattern = Annotated[str, Field(min_length=2)]


class Model(BaseModel):
    """Strict: no unknown key, no silent conversion."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Bilingual(Model):
    """The same thing said in English and in Chinese."""

    en: Sentence = Field(description="English text. 英文。")
    zh: Sentence = Field(description="Chinese text. 中文。")


class CodeCondition(Model):
    """An error code that the paste must contain, in any spelling."""

    family: CodeFamily = Field(description="Catalogue of the code: acl, cann, hccl, device, ... 错误码所属类别。")
    value: str = Field(description="The code, quoted: '507018', 'EI0006'. 错误码（加引号）。")


class FactCondition(Model):
    """A value that was read out of the paste or the machine, and what it must be."""

    name: str = Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$", description="Fact, e.g. npu.temperature_c. 事实名。")
    above: float | int | None = Field(default=None, description="Holds above this number. 大于该值时成立。")
    below: float | int | None = Field(default=None, description="Holds below this number. 小于该值时成立。")
    equals: str | None = Field(default=None, description="Holds for exactly this text. 等于该文本时成立。")
    differs: str | None = Field(default=None, description="Holds for any other text than this. 不等于该文本时成立。")

    @model_validator(mode="after")
    def _one_test(self) -> FactCondition:
        if sum(v is not None for v in (self.above, self.below, self.equals, self.differs)) != 1:
            raise ValueError("give exactly one of above, below, equals, differs")
        return self


class Block(Model):
    """One way to recognise the case: all its conditions must hold."""

    text: list[Pattern] = Field(
        default=[],
        description="Exact program text, all of them must be present. <*> stands for anything in between, <int>, <hex>"
        " and <word> for one value, <word:name> captures it. White space and case do not matter. 程序原文，全部出现。",
    )
    any: list[Pattern] = Field(default=[], description="At least one of these texts is present. 至少出现其一。")
    regex: list[Pattern] = Field(default=[], description="Python regexes over one line each, all must match. 正则。")
    code: list[CodeCondition] = Field(default=[], description="Codes that must all be present. 必须全部出现的错误码。")
    fact: list[FactCondition] = Field(default=[], description="Facts that must all hold. 必须全部成立的事实。")
    none: list[Pattern] = Field(default=[], description="Texts that rule this block out. 出现则排除。")
    within: int | None = Field(
        default=None, ge=0, le=500, description="All texts stand within so many lines of each other. 文本相距行数上限。"
    )
    proves: Verdict = Field(
        default="likely",
        description="What a match is worth: certain (this text has only this cause), likely (it is the usual cause),"
        " possible (one of several; a suggestion, never a claim). 匹配后的可信程度。",
    )

    @field_validator("text", "any", "regex", "none", "code", "fact", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, (str, dict)) else value

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: list[str]) -> list[str]:
        for pattern in value:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"not a regular expression: {error}") from None
        return value

    @field_validator("text", "any", "none")
    @classmethod
    def _parses(cls, value: list[str]) -> list[str]:
        for pattern in value:
            TextPattern.parse(pattern)
        return value

    @model_validator(mode="after")
    def _has_condition(self) -> Block:
        if not (self.text or self.any or self.regex or self.code or self.fact):
            raise ValueError("a block needs at least one of text, any, regex, code, fact")
        return self


class Versions(Model):
    """The version combination: a range per component, such as '>=8.0.RC1,<8.0.0'."""

    affected: dict[Component, str] = Field(default={}, description="Ranges that show the fault. 受影响的版本范围。")
    chip: list[Chip] = Field(default=[], description="Chips that are affected; none named means all. 受影响的芯片。")
    fixed: dict[Component, str] = Field(default={}, description="First version without the fault. 首个修复版本。")


class Check(Model):
    """One diagnostic command: by its id in commands.yaml, or written out."""

    command: Slug | None = Field(default=None, description="Id of a command in kb/commands.yaml. 命令编号。")
    run: str | None = Field(default=None, description="The command itself, if it is not in commands.yaml. 命令原文。")
    effect: Effect = Field(default="read", description="What running it does to the machine. 命令的影响。")
    expect: Bilingual = Field(description="What to look for in its output. 看输出中的什么。")

    @model_validator(mode="after")
    def _one_form(self) -> Check:
        if (self.command is None) == (self.run is None):
            raise ValueError("give either command (an id of commands.yaml) or run (the command itself)")
        return self


class Fix(Bilingual):
    """One remedy, in both languages."""

    run: str | None = Field(default=None, description="Command line that does it, if there is one. 对应的命令。")
    effect: Effect = Field(description="read, write (changes settings), restart, reset (device), replace. 影响。")


class Samples(Model):
    """Program text that must be answered with this entry first, and text that must not."""

    hit: list[Sentence] = Field(min_length=1, description="Pastes that must give this entry first. 必须命中的样例。")
    miss: list[Sentence] = Field(min_length=1, description="Near-misses that must not match it. 不得命中的近似样例。")


class Reference(Model):
    """Where the knowledge comes from."""

    url: str | None = Field(default=None, pattern=r"^https?://\S+$", description="Public address. 公开链接。")
    source: str | None = Field(default=None, description="Source without an address, in words. 无链接的来源。")
    read: datetime.date = Field(description="Day on which it was read. 阅读日期。")

    @model_validator(mode="after")
    def _named(self) -> Reference:
        if (self.url is None) == (self.source is None):
            raise ValueError("give either url or source")
        return self


class Verified(Model):
    """When, and with which versions, somebody saw that the fix works."""

    date: datetime.date = Field(description="Day of the check. 验证日期。")
    versions: dict[Component, str] = Field(default={}, description="Versions it was seen on. 验证时的版本。")


class Entry(Model):
    """One case of knowledge: a cause, how to recognise it, and what to do."""

    id: Slug = Field(description="Readable name, equal to the file name; never changed or reused. 编号，与文件名一致。")
    aliases: list[Slug] = Field(default=[], description="Former ids that still find this entry. 旧编号。")
    title: Bilingual = Field(description="The cause in one line, as a heading. 一句话标题（点出原因）。")
    layer: Layer = Field(description="Layer of the stack where the cause lies; the folder's name. 所属层次。")
    topic: Slug = Field(description="One of kb/topics.yaml. 主题。")
    severity: Severity = Field(description="fault, degraded (slow), benign (safe to ignore). 严重程度。")
    role: Role = Field(default="root", description="root, follow-on (another fault causes it), wrapper. 角色。")
    general: bool = Field(
        default=False, description="A fault of any stack; claimed only beside text of Ascend's. 各种平台通用的故障。"
    )
    status: Status = Field(description="draft (only suggests), reported (unsure), confirmed, deprecated. 状态。")
    superseded_by: Slug | None = Field(
        default=None, description="Of a deprecated entry: the id that took its place. 已弃用条目的替代编号。"
    )
    symptom: Bilingual = Field(description="What the user sees, in words they would search for. 用户看到的现象。")
    match: list[Block] = Field(default=[], description="Ways to recognise it; one is enough. 匹配条件，任一即可。")
    versions: Versions = Field(default_factory=Versions, description="Versions and chips concerned. 相关版本与芯片。")
    cause: Bilingual = Field(description="Why it happens, concretely. 根因。")
    causes: list[Slug] = Field(default=[], description="Ids of entries that this one brings about. 由其引发的条目。")
    related: list[Slug] = Field(default=[], description="Ids of entries worth reading beside this one. 相关条目。")
    diagnose: list[Check] = Field(default=[], description="Commands to run, in order. 诊断命令（按顺序）。")
    fix: list[Fix] = Field(min_length=1, description="Remedies, the mildest first. 处理办法，由轻到重。")
    verify: Bilingual = Field(description="How to see that it is fixed. 如何确认已修复。")
    samples: Samples
    references: list[Reference] = Field(default=[], description="Where this is taken from. 参考来源。")
    verified: Verified | None = Field(default=None, description="Last check on a machine. 最近一次实机验证。")
    author: str | None = Field(default=None, description="Who wrote it. 作者。")
