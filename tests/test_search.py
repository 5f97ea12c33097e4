"""Search over a handful of entries: ranking, spellings, codes, the cache on disk, and how results are shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from npu_kb.errors import KnowledgeError
from npu_kb.knowledge import cachefolder
from npu_kb.knowledge.base import Knowledge
from npu_kb.knowledge.fulltext import SearchIndex, open_index
from npu_kb.knowledge.synonyms import read_synonyms
from npu_kb.render.search import search_command

KB = Path(__file__).parents[1] / "kb"


def entry(id: str, en: str, zh: str, *, match: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    blocks = [
        {"text": [], "any": [], "regex": [], "code": [], "fact": [], "none": [], **block} for block in match or []
    ]
    return {
        "id": id, "aliases": [], "layer": "system", "topic": "hang", "severity": "fault", "role": "root",
        "status": "confirmed", "title": {"en": en, "zh": zh}, "symptom": {"en": en, "zh": zh},
        "cause": {"en": "-", "zh": "-"}, "verify": {"en": "-", "zh": "-"}, "match": blocks, "diagnose": [],
        "fix": [{"en": "-", "zh": "-", "effect": "read"}], "samples": {"hit": [], "miss": []}, "references": [],
        "versions": {}, "causes": [], "related": [], **more,
    }  # fmt: skip


ENTRIES = [
    entry("host-memory-full", "The host runs out of memory and the kernel kills the process",
          "主机内存不足，进程被内核杀死"),
    entry("device-memory-full", "Device memory (HBM) is exhausted", "显存不足（HBM 耗尽）", aliases=["npu-oom"]),
    entry("link-setup-timeout", "HCCL connect times out while ranks set up links", "HCCL 建链超时",
          match=[{"text": ["EI0006"], "any": ["HCCL_CONNECT_TIMEOUT"]}]),
    entry("tcp-fallback", "Collectives between machines are slow because HCCL fell back to TCP",
          "跨机集合通信回退到 TCP，速度很慢"),
    entry("operator-missing", "The operator is not supported on this chip", "该芯片不支持此算子",
          match=[{"code": [{"family": "aclnn", "value": "561003"}]}]),
    entry("operator-list", "Which operator is supported: how to read the list", "如何查看算子支持列表"),
    entry("card-lost", "One NPU card is lost and npu-smi no longer lists it", "一张卡掉卡，npu-smi 看不到"),
    entry("page-fault", "Device reports fault 0x7020016", "设备报 0x7020016", match=[{"text": ["0x7020016"]}]),
    entry("other-page-fault", "Device reports fault 0x7020010", "设备报 0x7020010", match=[{"text": ["0x7020010"]}]),
    entry("copy-fails", "aclnnInplaceCopy fails with a wrong shape", "aclnnInplaceCopy 形状错误"),
    entry("mentions-a-code", "Retry after a failure", "失败后重试",
          cause={"en": "Sometimes 561003 or EI0006", "zh": "-"}),
    entry("data-loading", "DataLoader workers starve the NPU", "数据加载跟不上，NPU 空等"),
]  # fmt: skip


class Store:
    """What a results page needs of the knowledge."""

    def entry(self, id: str) -> dict[str, Any] | None:
        return next((entry for entry in ENTRIES if entry["id"] == id), None)

    def command(self, id: str) -> None:
        return None

    def signatures_with(self, words: Iterable[str]) -> list[dict[str, Any]]:
        return []


@pytest.fixture(scope="module")
def index() -> Iterator[SearchIndex]:
    opened = SearchIndex.open(ENTRIES, None)
    yield opened
    opened.close()


def ids(index: SearchIndex, query: str) -> list[str]:
    return [hit.id for hit in index.search(query)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("显存不足", "device-memory-full"),
        ("HBM oom", "device-memory-full"),
        ("显存爆了怎么办", "device-memory-full"),
        ("gpu memory exhausted", "device-memory-full"),
        ("主机内存被杀", "host-memory-full"),
        ("HCCL 建链 timeout", "link-setup-timeout"),
        ("NCCL connect timeout", "link-setup-timeout"),
        ("connecting timed out", "link-setup-timeout"),
        ("跨机 allreduce slow", "tcp-fallback"),
        ("多机通信很慢", "tcp-fallback"),
        ("nvidia-smi shows one card less", "card-lost"),
        ("inplace copy", "copy-fails"),
        ("读数据太慢", "data-loading"),
        ("data loader", "data-loading"),
        ("connect_timeout", "link-setup-timeout"),
    ],
)
def test_the_right_entry_comes_first(index: SearchIndex, query: str, expected: str) -> None:
    assert ids(index, query)[0] == expected


@pytest.mark.parametrize(
    ("query", "general"),
    [
        ("显存不足", {"npu-out-of-memory-in-process"}),
        ("out of memory", {"npu-out-of-memory-in-process"}),
        ("hccl超时", {"hccl-notify-wait-timeout", "hccl-link-setup-timeout"}),
        ("hccl timeout", {"hccl-notify-wait-timeout", "hccl-link-setup-timeout"}),
        ("版本不匹配", {"torch-npu-built-for-other-torch", "driver-firmware-mismatch"}),
        ("version mismatch", {"driver-firmware-mismatch"}),
        ("掉卡", {"npu-missing-from-pcie"}),
        ("device lost", {"npu-missing-from-pcie"}),
        ("温度过高", {"npu-over-temperature"}),
    ],
)
def test_the_commonest_words_find_the_general_entries(knowledge: Knowledge, query: str, general: set[str]) -> None:
    assert general <= {hit.id for hit in open_index(knowledge).search(query, 3)}


def test_of_like_entries_the_one_that_others_name_comes_first() -> None:
    likes = [entry(id, "The widget stops", "部件停止") for id in ("a-special", "b-special", "general")]
    for special in likes[:2]:
        special["related"] = ["general"]
    index = SearchIndex.open(likes, None)
    assert ids(index, "widget") == ["general", "a-special", "b-special"]
    assert ids(index, "a-special")[0] == "a-special"
    index.close()


def test_a_topic_is_found_by_its_name_in_either_language() -> None:
    index = SearchIndex.open([entry("x", "-", "-", topic_names={"en": "Time-outs", "zh": "超时"})], None)
    assert ids(index, "超时") == ids(index, "time-outs") == ["x"]
    index.close()


@pytest.mark.parametrize("query", ["device-memory-full", "npu-oom", "Device-Memory-Full.yaml", "show npu-oom please"])
def test_an_id_or_a_former_id_finds_its_entry_first(index: SearchIndex, query: str) -> None:
    assert ids(index, query)[0] == "device-memory-full"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("EI0006", "link-setup-timeout"),
        ("ei0006", "link-setup-timeout"),
        ("561003", "operator-missing"),
        ("0x7020016", "page-fault"),
        ("0X07020010", "other-page-fault"),
        ("HCCL_CONNECT_TIMEOUT", "link-setup-timeout"),
    ],
)
def test_a_code_finds_the_entry_that_recognises_it_first(index: SearchIndex, code: str, expected: str) -> None:
    assert ids(index, code)[0] == expected


@pytest.mark.parametrize("code", ["EI0007", "0x7020017", "561004", "aclnnInplaceCopi", "libascendcl.sa"])
def test_a_code_is_never_read_as_a_similar_one(index: SearchIndex, code: str) -> None:
    assert [hit for hit in index.search(code) if hit.highlights & {"=ei0006", "=0x7020016", "=aclnninplacecopy"}] == []


def test_a_similar_code_finds_nothing(index: SearchIndex) -> None:
    assert ids(index, "EI0007") == ids(index, "0x7020017") == ids(index, "561004") == []


@pytest.mark.parametrize(
    ("misspelt", "expected"),
    [
        ("colectives", "tcp-fallback"),
        ("exhuasted", "device-memory-full"),
        ("tiemout", "link-setup-timeout"),
        ("opreator suported", "operator-list"),
        ("dataloadr", "data-loading"),
        ("kernl kils", "host-memory-full"),
    ],
)
def test_misspelt_words_are_forgiven(index: SearchIndex, misspelt: str, expected: str) -> None:
    assert ids(index, misspelt)[0] == expected


def test_short_words_are_not_guessed(index: SearchIndex) -> None:
    assert ids(index, "carb") == []


def test_a_spelling_never_turns_a_word_into_its_opposite() -> None:
    index = SearchIndex.open([entry("x", "unsupported layout", "-")], None)
    assert ids(index, "insupported") == []
    assert ids(index, "unsuported") == ["x"]
    index.close()


def test_a_negation_prefers_the_entry_that_negates(index: SearchIndex) -> None:
    assert ids(index, "operator not supported")[0] == "operator-missing"
    assert ids(index, "operator isn't supported")[0] == "operator-missing"
    assert ids(index, "算子不支持")[0] == "operator-missing"
    assert ids(index, "supported operator list")[0] == "operator-list"


@pytest.mark.parametrize(
    "query", ["", "   ", "？！", "the of and", "怎么办", "zzzzzzzz", "\x00\x1e\x1f", "@", "!", "=", "#1"]
)
def test_a_query_that_says_nothing_finds_nothing(index: SearchIndex, query: str) -> None:
    assert index.search(query) == []


def test_a_pasted_log_is_a_query_too(index: SearchIndex) -> None:
    log = '[ERROR] HCCL(1,python3):2026-01-01 [x.cc:1] EI0006: "(connect" [timed out] rank *?~^ {a: b}\n' * 200
    assert ids(index, log)[0] == "link-setup-timeout"


def test_the_limit_holds_and_the_best_come_first(index: SearchIndex) -> None:
    hits = index.search("hccl device npu card memory", limit=3)
    assert len(hits) == 3
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 < hit.coverage <= 1 for hit in hits)


def test_spans_mark_words_pairs_and_synonyms(index: SearchIndex) -> None:
    hit = index.search("oom hbm")[0]
    text = "显存不足: Device memory (HBM) is exhausted"
    assert "HBM" in [text[start:end] for start, end in index.spans(text, hit)]
    assert text[slice(*index.spans(text, hit)[0])] == "显存不足"


def test_an_index_on_disk_is_used_again(tmp_path: Path) -> None:
    first = SearchIndex.open(ENTRIES, tmp_path, key="1")
    first.close()
    again = SearchIndex.open(iter(()), tmp_path, key="1")
    assert ids(again, "显存不足")[0] == "device-memory-full"
    again.close()


def test_another_key_or_other_documents_build_another_index(tmp_path: Path) -> None:
    for documents in (ENTRIES, ENTRIES[:1]):
        index = SearchIndex.open(documents, tmp_path)
        assert len(ids(index, "memory")) == min(2, len(documents))
        index.close()
    index = SearchIndex.open(ENTRIES[:1], tmp_path, key="2")
    assert ids(index, "memory") == ["host-memory-full"]
    index.close()


def test_only_the_latest_indexes_are_kept(tmp_path: Path) -> None:
    for key in range(8):
        SearchIndex.open(ENTRIES[:1], tmp_path, key=str(key)).close()
    assert 1 <= len(list((tmp_path / "search").iterdir())) <= 5


@pytest.mark.parametrize("damage", ["cut", "flip", "remove", "empty", "garbage-manifest"])
def test_a_damaged_index_is_built_anew(tmp_path: Path, damage: str) -> None:
    SearchIndex.open(ENTRIES, tmp_path, key="1").close()
    folder = next((tmp_path / "search").iterdir())
    for path in [folder / "manifest.json"] if damage == "garbage-manifest" else sorted(folder.iterdir()):
        content = path.read_bytes()
        if damage == "remove":
            path.unlink()
        elif damage == "flip":
            path.write_bytes(content[:-9] + bytes(255 - byte for byte in content[-9:]))
        else:
            path.write_bytes({"cut": content[: len(content) // 2], "garbage-manifest": b"[1]"}.get(damage, b""))
    index = SearchIndex.open(ENTRIES, tmp_path, key="1")
    assert ids(index, "显存不足")[0] == "device-memory-full"
    index.close()
    assert cachefolder.is_whole(folder)
    assert [path.name for path in (tmp_path / "search").iterdir()] == [folder.name]


def test_a_folder_that_cannot_be_written_does_not_matter(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    index = SearchIndex.open(ENTRIES, blocked / "below")
    assert ids(index, "显存不足")[0] == "device-memory-full"
    index.close()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir(mode=0o500)
    index = SearchIndex.open(ENTRIES, tmp_path)
    assert ids(index, "显存不足")[0] == "device-memory-full"
    index.close()


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search").chmod(0o777)
    index = SearchIndex.open(ENTRIES, tmp_path)
    assert ids(index, "显存不足")[0] == "device-memory-full"
    index.close()
    assert list((tmp_path / "search").iterdir()) == []


def test_a_full_disk_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cachefolder, "place", full)
    index = SearchIndex.open(ENTRIES, tmp_path)
    assert ids(index, "显存不足")[0] == "device-memory-full"
    index.close()


def test_two_processes_that_build_at_once_both_answer(tmp_path: Path) -> None:
    code = (
        "import json, sys; from npu_kb.knowledge.fulltext import SearchIndex;"
        "index = SearchIndex.open(json.load(sys.stdin), sys.argv[1], 'k');"
        "print(index.search('out of memory on the device')[0].id)"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    many = json.dumps([{**item, "id": f"{item['id']}-{n}"} for n in range(20) for item in ENTRIES])
    answers = [process.communicate(many)[0] for process in running]
    assert len(set(answers)) == 1
    assert answers[0].startswith("device-memory-full")
    assert len(list((tmp_path / "search").iterdir())) == 1


def test_results_as_text(index: SearchIndex) -> None:
    text, status = search_command("显存不足", index, Store(), "zh", "text", 5, colour=False)  # type: ignore[arg-type]
    assert status == 0
    assert text.startswith(" 1. device-memory-full  system/hang, 故障\n    显存不足（HBM 耗尽）\n")
    assert "\x1b" not in text


def test_results_in_colour_mark_the_words(index: SearchIndex) -> None:
    text, _ = search_command("exhausted", index, Store(), "en", "text", 5, colour=True)  # type: ignore[arg-type]
    assert "\x1b[1;33mexhausted\x1b[0m" in text


def test_results_as_json(index: SearchIndex) -> None:
    text, status = search_command("EI0006", index, Store(), "en", "json", 5, colour=False)  # type: ignore[arg-type]
    results = json.loads(text)["results"]
    assert status == 0
    assert results[0]["id"] == "link-setup-timeout"
    assert {"title", "symptom", "cause", "fix", "verify", "score", "layer", "topic", "severity"} <= results[0].keys()
    assert not {"samples", "references"} & results[0].keys()


@pytest.mark.parametrize("fmt", ["text", "json"])
def test_nothing_found_is_status_1(index: SearchIndex, fmt: str) -> None:
    text, status = search_command("zzzzzzzz", index, Store(), "both", fmt, 5, colour=False)  # type: ignore[arg-type]
    assert status == 1
    assert text.strip()
    if fmt == "json":
        assert json.loads(text) == {"results": []}


def test_no_line_is_wider_than_a_terminal(index: SearchIndex) -> None:
    from npu_kb.render.text import width_of

    text, _ = search_command("hccl memory 内存", index, Store(), "both", "text", 9, colour=False)  # type: ignore[arg-type]
    assert max(map(width_of, text.splitlines())) <= 80


def test_the_shipped_synonyms_are_right() -> None:
    assert read_synonyms(KB / "synonyms.yaml").words()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("same: [[a1]]", "same.0: must be a list of words"),
        ("same: [[on, off]]", "same.0.0: YAML reads this as bool True; put it in quotes"),
        ("same: [[slow, slow]]", "same.0.1: 'slow' stands twice in its group; remove it"),
        ("same: [[slow, '!!']]", "same.0.1: '!!' holds no word; remove it"),
        ("also: [a]", "also: must map names to lists"),
        ("likewise: []", "likewise: is not a part; allowed are same, also, noise"),
        ("", "must be a map with same, also, noise"),
    ],
)
def test_a_fault_in_synonyms_names_its_place(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "synonyms.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(KnowledgeError) as caught:
        read_synonyms(path)
    assert any(expected in str(problem) for problem in caught.value.problems)
