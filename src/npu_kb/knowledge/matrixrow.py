"""What all rows of kb/matrix are made of: releases, ranges, where they are known from and what is disputed."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from pydantic import AfterValidator, BeforeValidator, Field

from npu_kb.knowledge.entry import Bilingual, Component, Model
from npu_kb.releases import is_release


def _release(text: str) -> str:
    if not is_release(text):
        raise ValueError(f"is {text!r}, which is no release; write one such as 8.3.RC1 or a series such as 9.0.X")
    return text


def _words(value: object) -> list[str]:
    if not isinstance(value, str):
        raise ValueError("write it as one text in quotes, its parts separated by spaces")
    return value.split()


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ValueError(f"is {text!r}; write a range such as >=3.10,<3.13") from None
    return text


Text = Annotated[str, Field(min_length=1, max_length=500)]
Release = Annotated[Text, AfterValidator(_release)]
Releases = Annotated[list[Release], BeforeValidator(_words)]
Words = Annotated[list[Text], BeforeValidator(_words)]
Labels = Annotated[list[Annotated[str, Field(pattern=r"^C\d{2}$")]], BeforeValidator(_words)]
Ranges = Annotated[list[Annotated[str, Field(pattern=r"^\[\d+(\.\d+)*,\d+(\.\d+)*\]$")]], BeforeValidator(_words)]
PythonRange = Annotated[str, AfterValidator(_specifier)]
Verified = Literal["doc", "issue", "unverified"]


class Dispute(Bilingual):
    """How sources contradict each other, and about which component."""

    about: Component


class Row(Model):
    """What all rows tell of themselves."""

    KEY: ClassVar[tuple[str, ...]] = ()
    """The fields that no two rows of a table share."""

    source: Text
    verified: Verified = "doc"
    note: Text | None = None
    disputed: Dispute | None = None

    def key(self) -> str:
        """What tells the row from all others of its table."""
        values = (getattr(self, name) for name in self.KEY)
        return "|".join(" ".join(value) if isinstance(value, list) else str(value or "") for value in values)
