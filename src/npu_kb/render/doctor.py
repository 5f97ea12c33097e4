"""What is wrong with a machine, as terminal text: causes, versions that do not fit, and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from npu_kb.environment.evidence import unsupported
from npu_kb.render.environment_blocks import missing_lines
from npu_kb.render.judgement import judgement_text
from npu_kb.render.page import Page
from npu_kb.render.terminal import diagnosis_text
from npu_kb.render.text import choose

if TYPE_CHECKING:
    from npu_kb.environment.judge import Judgement
    from npu_kb.environment.snapshot import Snapshot

_TEXTS = {
    "well": {
        "en": "Nothing wrong found in {facts} facts and {versions} versions.",
        "zh": "检查了 {facts} 项事实和 {versions} 个版本，未发现问题。",
    },
    "no npu": {
        "en": "No NPU is seen here: no device file, nothing that npu-smi or lspci tells of one.",
        "zh": "本机未见 NPU：没有设备文件，npu-smi 和 lspci 也未报告。",
    },
    "hints": {"en": "Nothing certain. Worth a look:", "zh": "没有确定的问题，可以关注："},
    "more": {"en": "Also worth a look:", "zh": "另外可以关注："},
    "missing": {"en": "Not read, so nothing is said of it", "zh": "以下内容未能读取，未作判断"},
}


def doctor_text(
    document: dict[str, Any],
    judgements: list[Judgement],
    snapshot: Snapshot,
    lang: str,
    colour: bool,
    width: int,
    full: bool,
) -> str:
    """The causes, then the versions; `full` shows every match, and the pairs that go together too.

    That there is no NPU at all is said before.
    """
    shown = judgements if full else unsupported(judgements)
    page = Page(lang, colour, width)
    if not _shows_npu(snapshot):
        page.paragraph(choose(_TEXTS["no npu"], lang)[0], 0, "bold")
        page.blank()
    claims = [match for match in document["matches"] if match["verdict"] != "possible"]
    hints = [match for match in document["matches"] if match not in claims and not (claims and full)]
    if claims:
        told = document if full else {**document, "matches": claims}
        page.lines += diagnosis_text(told, lang, colour, width, full).rstrip().split("\n")
    if hints:
        _hints(page, "more" if claims else "hints", hints)
    if not (claims or hints or shown):
        counts = {"facts": len(snapshot.facts), "versions": len(snapshot.versions)}
        page.paragraph(choose(_TEXTS["well"], lang)[0].format(**counts), 0, "bold")
    if shown:
        page.blank()
        page.lines += judgement_text(shown, lang, colour, width).rstrip().split("\n")
    if snapshot.missing:
        page.blank()
        page.lines.append(page.style(choose(_TEXTS["missing"], lang)[0], "bold"))
        for line in missing_lines(snapshot.missing, lang):
            page.paragraph(line, 2)
    return page.text()


def _shows_npu(snapshot: Snapshot) -> bool:
    """Whether a machine that was looked at has an NPU; pasted outputs do not tell that there is none."""
    told = any(fact.name.startswith("npu.") or (fact.name == "host.pci_npu" and fact.value) for fact in snapshot.facts)
    return bool(snapshot.container is None or snapshot.chips or snapshot.devices.nodes or told)


def _hints(page: Page, heading: str, matches: list[dict[str, Any]]) -> None:
    """What may be wrong, all of it: title, the line that says it, and where to read on."""
    page.blank()
    page.lines.append(page.style(choose(_TEXTS[heading], page.lang)[0], "bold"))
    for match in matches:
        for title in choose(match["title"], page.lang):
            page.paragraph(title, 2)
        first = match["evidence"][0]
        page.paragraph(f"{first['source']}: {first['text']}", 4, "red")
        page.paragraph(f"npu-kb show {match['id']}", 4, "dim")
