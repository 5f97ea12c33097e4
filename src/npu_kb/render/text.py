"""Plain text for a terminal: wrapping that knows wide characters, and colours that can be left out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
_OPENING = "([{（［｛【《〈「『“‘"
"""After these no line ends."""
_CLOSING = ")]}）］｝】》〉」』”’，。；：、！？,.;:!?…%"
"""Before these no line begins."""


class Style:
    """Wraps text in SGR sequences, or leaves it alone."""

    def __init__(self, colour: bool) -> None:
        self.colour = colour

    def __call__(self, text: str, *names: str) -> str:
        if not self.colour or not names or not text:
            return text
        return f"\x1b[{';'.join(_STYLES[name] for name in names)}m{text}\x1b[0m"


def width_of(text: str) -> int:
    """Terminal cells that the text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def wrap(text: str, width: int) -> list[str]:
    """The text in lines of at most `width` cells, broken at spaces and beside wide characters."""
    lines: list[str] = []
    for paragraph in text.splitlines() or [""]:
        line, used = "", 0
        for token in _tokens(paragraph, width):
            cells = width_of(token)
            if used + cells > width and line:
                lines.append(line.rstrip())
                line, used = "", 0
                if token == " ":
                    continue
            line, used = line + token, used + cells
        lines.append(line.rstrip())
    return lines


def _tokens(text: str, width: int) -> Iterator[str]:
    """Words, single spaces and single wide characters (with the punctuation that must not end or start a line)."""
    word = ""
    for char in text:
        if char.isspace():
            yield from _pieces(word, width)
            yield " "
            word = ""
        elif word and _parts(word[-1], char):
            yield from _pieces(word, width)
            word = char
        else:
            word += char
    yield from _pieces(word, width)


def _parts(before: str, after: str) -> bool:
    """Whether a line may end between two characters: beside a wide one, unless punctuation or an accent holds them."""
    is_loose = 2 in (_cells(before), _cells(after)) and _cells(after) > 0
    return is_loose and before not in _OPENING and after not in _CLOSING


def _pieces(word: str, width: int) -> Iterator[str]:
    while width_of(word) > width:
        cut = width
        while width_of(word[:cut]) > width:
            cut -= 1
        yield word[:cut]
        word = word[cut:]
    if word:
        yield word


def clipped(text: str, width: int) -> str:
    """The text, shortened with `...` to at most `width` cells."""
    if width_of(text) <= width:
        return text
    cut = width
    while width_of(text[:cut]) > width - 3:
        cut -= 1
    return text[:cut] + "..."


def side_by_side(parts: Iterable[tuple[str, ...]], width: int, style: Style) -> list[str]:
    """Texts, each with its styles, on one line where that is as wide as they are, else one below the other."""
    texts = [(text, names) for text, *names in parts if text]
    if width_of("  ".join(text for text, _ in texts)) <= width:
        return ["  ".join(style(text, *names) for text, names in texts)]
    return [style(line, *names) for text, names in texts for line in (wrap(text, width) if " " in text else [text])]


def choose(texts: dict[str, str], lang: str) -> list[str]:
    """The text in the wanted language; with `both`, English and then Chinese."""
    if lang == "both":
        return [texts["en"], texts["zh"]] if texts.get("zh") else [texts["en"]]
    return [texts.get(lang) or texts["en"]]


LABELS: dict[str, dict[str, str]] = {
    "cause": {"en": "Cause", "zh": "原因"},
    "symptom": {"en": "Symptom", "zh": "现象"},
    "fix": {"en": "Fix", "zh": "处理"},
    "check": {"en": "Check", "zh": "排查命令"},
    "verify": {"en": "Verify", "zh": "验证"},
    "sources": {"en": "Sources", "zh": "来源"},
    "seen": {"en": "Seen in", "zh": "证据"},
    "applies": {"en": "Versions", "zh": "版本"},
    "feedback": {"en": "Feedback", "zh": "反馈"},
    "codes": {"en": "Codes in this log", "zh": "日志中的错误码"},
    "independent": {"en": "Another, independent fault", "zh": "另一个独立的故障"},
    "follows": {"en": "Follows from it, or is said beside it", "zh": "由其引发或伴随出现"},
    "others": {"en": "Also possible", "zh": "其他可能"},
    "nearest": {"en": "Nearest, to be checked", "zh": "最接近的条目，需核实"},
    "nothing": {"en": "No known cause.", "zh": "没有找到已知的原因。"},
    "empty": {"en": "No known cause: the input holds no text.", "zh": "没有找到已知的原因：输入中没有文本。"},
    "capture": {"en": "Capture next", "zh": "建议继续采集"},
    "line": {"en": "line {number}", "zh": "第 {number} 行"},
    "look": {"en": "look for", "zh": "关注"},
    "match": {"en": "Recognised by", "zh": "匹配条件"},
    "matched": {"en": "matches this log", "zh": "与该日志匹配"},
    "unmatched": {"en": "does not match this log", "zh": "与该日志不匹配"},
    "structure": {"en": "In this log", "zh": "日志内容"},
    "near": {"en": "nearest", "zh": "最接近"},
    "far": {"en": "all hold, but not within so many lines of each other:", "zh": "各条件均成立，但相距超过行数："},
    "wordless": {
        "en": "This entry describes a fault that prints nothing; it is found by its description.",
        "zh": "该条目描述的故障没有报错输出，只能按现象描述查找。",
    },
    "related": {"en": "Related", "zh": "相关"},
    "former": {"en": "is a former id; the entry is now", "zh": "为旧条目 ID，现条目为"},
}

VERDICT_NAMES = {
    "certain": {"en": "certain", "zh": "确定"},
    "likely": {"en": "likely", "zh": "很可能"},
    "possible": {"en": "possible", "zh": "可能"},
}

EFFECT_NAMES = {
    "read": {"en": "reads only", "zh": "只读"},
    "write": {"en": "changes settings", "zh": "修改配置"},
    "restart": {"en": "restarts", "zh": "需重启进程"},
    "reset": {"en": "resets the device or host", "zh": "复位设备或主机"},
    "replace": {"en": "replaces hardware", "zh": "更换硬件"},
}

SEVERITY_NAMES = {
    "fault": {"en": "fault", "zh": "故障"},
    "degraded": {"en": "degraded", "zh": "降级"},
    "benign": {"en": "safe to ignore", "zh": "可忽略"},
}


def label(name: str, lang: str) -> str:
    """A heading of the interface; English where both languages are shown."""
    return choose(LABELS[name], lang)[0]


def line_label(number: int, lang: str) -> str:
    """`line 6` in the interface's language."""
    return label("line", lang).format(number=number)


def colon(lang: str) -> str:
    """What stands between a heading and its text on one line."""
    return "：" if lang == "zh" else ": "


def counted(number: int, one: str, many: str = "") -> str:
    """`1 entry`, `2 entries`; without `many` an s makes the plural."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def filled(template: str, **values: object) -> str:
    """As str.format, and a number takes its noun along: `{n:draft}`, `{n:entry|entries}` (see `counted`)."""
    return template.format(**{name: _Count(v) if isinstance(v, int) else v for name, v in values.items()})


class _Count(int):
    """A number in whose format specification a noun may stand."""

    def __format__(self, spec: str) -> str:
        noun = spec.partition("|")
        return counted(int(self), noun[0], noun[2]) if len(spec) > 1 and spec[0].isalpha() else format(int(self), spec)


class Say:
    """Gives the texts of a module, each in one language; English where both are shown."""

    def __init__(self, texts: dict[str, dict[str, str]]) -> None:
        self._texts = texts

    def __call__(self, name: str, lang: str, /, **words: object) -> str:
        """The text of this name, `filled` with the words."""
        return filled(choose(self._texts[name], lang)[0], **words)
