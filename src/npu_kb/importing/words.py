"""What headings of tables, pages and issue forms usually mean, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Mapping

PARTS: dict[str, tuple[str, ...]] = {
    "title": ("name", "fault name", "problem", "question", "issue", "summary", "subject", "标题", "问题", "问题标题",
        "问题名称", "故障名称", "名称", "主题"),
    "symptom": ("symptoms", "phenomenon", "description", "issue description", "problem description", "what happens",
        "describe the bug", "现象", "现象描述", "问题现象", "故障现象", "错误现象", "问题描述", "故障描述", "描述"),
    "error": ("errors", "error text", "error message", "error log", "error logs", "log", "logs", "log information",
        "message", "output", "stack", "stack trace", "traceback", "报错", "报错信息", "报错内容", "报错日志", "错误",
        "错误信息", "错误日志", "日志", "日志信息", "关键日志", "回显", "堆栈"),
    "cause": ("causes", "root cause", "possible cause", "possible causes", "reason", "analysis", "why", "原因",
        "可能原因", "问题原因", "故障原因", "原因分析", "问题分析", "根因", "问题根因", "根因分析"),
    "fix": ("fixes", "solution", "solutions", "resolution", "workaround", "remedy", "action", "handling",
        "handling suggestion", "suggestion", "how to fix", "answer", "解决", "解决方法", "解决方案",
        "解决办法", "解决措施", "解决步骤", "处理", "处理方法", "处理步骤", "处理建议", "处理措施", "处理方案",
        "处置", "措施", "规避", "规避方法", "规避措施", "规避方案", "建议", "答案", "回答"),
    "verify": ("verification", "how to verify", "验证", "验证方法"),
    "environment": ("your environment", "your current environment", "versions", "version", "software version",
        "hardware software environment", "环境", "环境信息", "版本", "版本信息", "软件版本", "软硬件环境"),
    "layer": ("层次", "所属层次"),
    "topic": ("类别",),
    "severity": ("严重程度",),
    "url": ("link", "address", "reference", "issue url", "链接", "参考链接", "地址", "问题链接"),
    "author": ("reporter", "owner", "recorded by", "作者", "提交人", "记录人", "提出人", "责任人"),
}  # fmt: skip
"""Part of an entry: the headings under which it stands, beside its own name."""
_LANGUAGE = re.compile(r"[ _(（](?P<lang>en|english|英文|英|zh|cn|chinese|中文|中)\)?）?$")
_NUMBERING = re.compile(r"^(?:[\W_]*(?:[一二三四五六七八九十]+、|\d+(?:\.\d+)*[.、)）]?(?=\D)))?[\W_]*")


def unnumbered(heading: str) -> str:
    """A heading without the number, emoji and marks before its words."""
    return _NUMBERING.sub("", heading.strip(), count=1)


def meaning(heading: str, words: Mapping[str, tuple[str, ...]]) -> str:
    """The name in `words` that a heading means, or nothing; of `处理/fix` or `原因 (why)` the first half that does."""
    for part in [heading, *re.split(r"[/|(（]", heading)]:
        word = part.strip(" )）:：").lower()
        plain = " ".join(word.replace("_", " ").split())
        if word in words:
            return word
        if found := next((name for name, usual in words.items() if plain in usual), ""):
            return found
    return ""


def part_of(heading: str) -> tuple[str, str]:
    """The part of an entry that a heading names and the language it says (en, zh or none); ("", "") if it names none.

    Numbers, emoji and marks around its words do not matter.
    """
    plain = unnumbered(heading[:100]).rstrip(" *_#:：。?？!！").lower()
    found = _LANGUAGE.search(plain)
    lang = ("zh" if found["lang"][0] in "zc中" else "en") if found else ""
    return meaning(plain[: found.start()] if found else plain, PARTS), lang
