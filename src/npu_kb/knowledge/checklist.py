"""The shape of kb/checklists/*.yaml: an ordered procedure whose steps say what to run and what must be seen."""

from __future__ import annotations

from typing import get_args

from pydantic import Field, field_validator, model_validator

from npu_kb.knowledge.entry import Bilingual, Component, Effect, FactCondition, Model, Slug


class Step(Model):
    """One thing to do or to look at."""

    title: Bilingual = Field(description="What to do, in one line. 要做什么。")
    why: Bilingual | None = Field(default=None, description="What goes wrong without it. 不做会怎样。")
    command: Slug | None = Field(default=None, description="Id of a command in kb/commands.yaml. 命令编号。")
    run: str | None = Field(default=None, description="The command itself, if it is not there. 命令原文。")
    effect: Effect = Field(default="read", description="What running it does to the machine. 命令的影响。")
    expect: Bilingual = Field(description="What must be seen for the step to be done. 完成的标志。")
    proof: list[FactCondition] = Field(default=[], description="Facts that prove it, all of them. 可证明完成的事实。")
    disproof: list[FactCondition] = Field(
        default=[], description="Facts any one of which says that it is not done. 可证明未完成的事实。"
    )
    pairs: list[str] = Field(
        default=[], description="Components whose versions must go together: torch_npu/torch. 须配套的组件。"
    )
    entries: list[Slug] = Field(default=[], description="Entries to read where it is not so. 不满足时参考的条目。")

    @field_validator("pairs")
    @classmethod
    def _pairs(cls, value: list[str]) -> list[str]:
        for pair in value:
            if not set(pair.split("/")) <= set(get_args(Component)) or pair.count("/") != 1:
                raise ValueError(f"{pair!r} is no pair of components; write it as torch_npu/torch")
        return value

    @model_validator(mode="after")
    def _one_form(self) -> Step:
        if self.command and self.run:
            raise ValueError("give command (an id of commands.yaml) or run (the command itself), not both")
        return self


class Checklist(Model):
    """An ordered procedure."""

    id: Slug = Field(description="Readable name, equal to the file name. 编号，与文件名一致。")
    title: Bilingual = Field(description="What it is for. 标题。")
    when: Bilingual = Field(description="When to go through it. 何时使用。")
    steps: list[Step] = Field(min_length=1, description="In the order in which to do them. 按顺序的步骤。")
