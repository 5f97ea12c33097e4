"""Overlays made to hurt: what is wrong is named with its place and mend, and the built-in knowledge answers in time."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from npu_kb import Knowledge, diagnose, locations
from npu_kb.knowledge.base import COMPILED
from npu_kb.knowledge.load import load_entries
from npu_kb.patterns import TextPattern, is_ambiguous

Run = Callable[..., tuple[int, str, str]]
Write = Callable[..., Path]
LOG = "some failing text\nzzhostile a mm b marker, CANN version 8.0.0\nRuntimeError: npu error 507999\n"
BUILT_IN = Path(locations.builtin_kb_directory())


@pytest.fixture(autouse=True)
def soon() -> Iterator[None]:
    """Whatever hangs fails."""

    def stop(*_: object) -> None:
        raise AssertionError("took more than 20 seconds of processor time")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 20)  # not of wall clock: the machine may be busy
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.signal(signal.SIGPROF, before)


@pytest.fixture
def overlay(write_entry: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty overlay beside a built-in knowledge of one entry."""
    write_entry("built-in", "- text: some failing text")
    for name in ("commands.yaml", "synonyms.yaml"):
        shutil.copy(BUILT_IN / name, tmp_path / "kb" / name)
    (tmp_path / "kb" / "trackers.yaml").write_text("- {name: Forum, url: 'https://example.org/'}\n")
    monkeypatch.setattr(locations, "builtin_kb_directory", lambda: str(tmp_path / "kb"))
    monkeypatch.setattr(locations, "packaged_database", lambda: None)
    folder = tmp_path / "overlay"
    folder.mkdir()
    return folder


def answers(run: Run, overlay: Path, log: str = LOG, options: tuple[str, ...] = ()) -> str:
    """What `why` says on stderr; the built-in entry must be its answer."""
    status, out, err = run("why", "--kb", str(overlay), *options, stdin=log)
    assert status == 0 and "built-in" in out, err
    return err


def write(overlay: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (overlay / name).parent.mkdir(parents=True, exist_ok=True)
        (overlay / name).write_text(text, "utf-8")


def own_entry(write_entry: Write, overlay: Path, match: str, extra: str = "", id: str = "zz-own") -> Path:
    """An entry in the overlay."""
    source = write_entry(id, match, extra=extra)
    return source.rename(overlay / source.name)


LAUGHS = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)
)
FILES = {
    "billion laughs": (LAUGHS, "a1.0: is used again by an alias"),
    "alias": ("id: &a x-y\ntopic: *a\n", "topic: is used again by an alias"),
    "deep brackets": ("a: " + "[" * 100_000, "not valid YAML"),
    "deep maps": ("{a: " * 20, "not valid YAML"),
    "list as a key": ("? [a, b]\n: c\n", "a key must be a plain word"),
    "object": ("!!python/object/apply:os.system ['true']", "not valid YAML"),
    "control character": ("id: a\0b\n", "not valid YAML"),
    "endless number": ("id: " + "9" * 5_000, "not valid YAML"),
    "codes among the entries": ("family: acl\nrows: []\n", "rows: holds rows and is no entry"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_left_out_and_named(run: Run, overlay: Path, name: str) -> None:
    text, expected = FILES[name]
    write(overlay, {"zz-own.yaml": text})
    err = answers(run, overlay)
    assert expected in err and f"{overlay}/zz-own.yaml:" in err
    assert len(err.splitlines()) == 1


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def dangling(path: Path) -> None:
    path.symlink_to("nowhere.yaml")


def itself(path: Path) -> None:
    path.symlink_to(path.name)


def large(path: Path) -> None:
    path.write_bytes(b"#" * 2_000_001)


def circle(path: Path) -> None:
    path.symlink_to(".")


def deep(path: Path) -> None:
    (path.parent / "/".join("d" * 40)).mkdir(parents=True)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (fifo, "is no regular file"),
        (endless, "is no regular file"),
        (dangling, "No such file"),
        (itself, "Too many levels"),
        (large, "larger than 2000000 bytes"),
        (circle, "is a link to a folder"),
        (deep, "more than 12 folders deep"),
    ],
)
@pytest.mark.parametrize("name", ["a.yaml", "trackers.yaml"])
def test_what_is_no_plain_file_is_left_out_at_once(
    run: Run, overlay: Path, make: Callable[[Path], None], expected: str, name: str
) -> None:
    make(overlay / name)
    assert expected in answers(run, overlay)


@pytest.mark.parametrize("make", [fifo, endless, dangling, itself])
def test_a_check_names_what_is_no_plain_file(run: Run, overlay: Path, make: Callable[[Path], None]) -> None:
    (overlay / "entries").mkdir(exist_ok=True)
    make(overlay / "entries" / "a.yaml")
    for named in (["--kb", str(overlay)], [str(overlay / "entries")], [str(overlay)]):
        for form in ("text", "json", "markdown", "sarif", "github"):
            status, out, _ = run("check", *named, "--format", form)
            assert status == 1 and "cannot be read: " in out and ("a.yaml" in out or "--kb" not in named)
    status, _, err = run("bundle", "make", "--kb", str(overlay), "--out", str(overlay / "out.pyz"))
    assert status == 2 and "a.yaml:1:1: cannot be read: " in err and not (overlay / "out.pyz").exists()


BLOCKS = {
    "overlapping alternatives": ("- regex: 'zzhostile(a|a)+$'", "match.0.regex.0: can run away"),
    "nested repeats": ("- regex: ['fine text', 'zzhostile(\\w+)+$']", "match.0.regex.1: can run away"),
    "many repeats": (f"- regex: '{'a?' * 30}{'a' * 30}'", "match.0.regex.0: can run away"),
    "adjacent repeats": ("- regex: 'z\\w*\\w*\\w*\\w*!'", "match.0.regex.0: can run away"),
    "too many gaps": ("- text: 'zzhostile<*>a<*>a<*>a<*>a<*>b'", "match.0.text: holds more than 2 <*>"),
    "many words": ("- text: 'ab<word>a<word>a<word>a<word>bb'", "match.0.text.0: can run away"),
    "huge repeat": ("- regex: 'abcdef(a{99999999999999999999})'", "match.0.regex: not a regular expression"),
    "nested brackets": (f"- regex: 'abcdef{'(' * 400}{')' * 400}'", "match.0.regex"),
    "endless brackets": (f"- regex: 'abcdef{'(' * 3000}{')' * 3000}'", "match.0.regex: is longer than 1000"),
    "warning": ("- regex: 'abcdef[[a]'", "match.0.regex: not a regular expression: Possible nested set"),
    "name twice": ("- text: 'zzhostile <word:x> mm <word:x> marker'", "match.0.text: names two placeholders 'x'"),
    "no bound": ("- fact: {name: npu.power_w, above: .nan}", "match.0.fact.0: has a bound that is no number"),
}  # fmt: skip


@pytest.mark.parametrize("name", BLOCKS)
def test_a_hostile_condition_is_left_out_and_named(run: Run, overlay: Path, write_entry: Write, name: str) -> None:
    match, expected = BLOCKS[name]
    own_entry(write_entry, overlay, match)
    for log in (LOG, LOG + "zzhostile" + "a" * 3_000 + "!\n"):
        err = answers(run, overlay, log)
        assert expected in err


@pytest.mark.parametrize(
    "regex",
    ["frob \\w+ is -\\d+", "(?:\\d{1,3}\\.){3}\\d{1,3} refused", "foo.*bar.*baz", "a(b|cd)?e", "(?:foo|bar)+ baz"],
)
def test_an_ordinary_regex_is_not_refused(overlay: Path, write_entry: Write, regex: str) -> None:
    own_entry(write_entry, overlay, f"- regex: '{regex}'")
    assert load_entries([overlay]).problems == []


@pytest.mark.parametrize("regex", ["(a|a)+", "(\\w+)+", "(a|ab)*c", "(?:a?){30}", "(?:(?=a)a?)*", "(a|b?)*?c"])
def test_an_ambiguous_regex_is_known(regex: str) -> None:
    assert is_ambiguous(regex)


def test_slow_entries_of_an_overlay_get_a_budget(overlay: Path, write_entry: Write) -> None:
    """Many patterns that each stay within bounds do not add up to minutes."""
    blocks = "\n".join(f"- text: 'zzhostile<*>q<*>x{n}y'" for n in range(40))
    own_entry(write_entry, overlay, blocks)
    knowledge = Knowledge.load([overlay])
    assert knowledge.problems == []
    log = "some failing text\n" + "zzhostileq" * 3_000 + "".join(f"x{n}yzzhostileqx" for n in range(40)) * 30
    assert diagnose(log, knowledge).matches[0].entry["id"] == "built-in"


def test_an_alias_that_stands_twice_belongs_to_the_first(run: Run, overlay: Path, write_entry: Write) -> None:
    own_entry(write_entry, overlay, "- text: first widget", "aliases: [old-name, old-name]\n", "zz-a")
    own_entry(write_entry, overlay, "- text: second widget", "aliases: [old-name, built-in]\n", "zz-b")
    assert "aliases.1: 'old-name' is an alias of zz-a already" in answers(run, overlay)
    knowledge = Knowledge.load([overlay])
    assert (knowledge.entry("old-name") or {})["id"] == "zz-a"
    assert (knowledge.entry("built-in") or {})["id"] == "built-in"


@pytest.mark.parametrize("version", ["''", "' '", "'>='"])
def test_an_empty_version_is_named(run: Run, overlay: Path, write_entry: Write, version: str) -> None:
    own_entry(write_entry, overlay, "- text: zzhostile", f"versions: {{fixed: {{cann: {version}}}}}\n")
    assert "versions.fixed.cann: names no version" in answers(run, overlay)


def test_a_version_that_cannot_be_compared_is_no_fault(run: Run, overlay: Path, write_entry: Write) -> None:
    strange = "'banana, >=,, ==x.*'"
    extra = f"versions: {{affected: {{cann: {strange}}}, fixed: {{torch: '{'9' * 5_000}'}}}}\n"
    own_entry(write_entry, overlay, "- text: zzhostile", extra)
    assert answers(run, overlay, LOG + "torch 2.1.0\n") == ""


TABLES = {
    "trackers.yaml": (
        "- 1\n- null\n- {name: x}\n- {name: Ours, url: 'https://ours.example/', when: [507]}\n",
        ["0: ", "1: ", "2.url: is missing", "3.when.0: YAML reads this as int 507"],
    ),
    "next_steps.yaml": ("- 1\n- {when: 5, run: 7}\n- {}\n", ["0: ", "1.when: ", "2.why: is missing"]),
    "topics.yaml": (
        "a: 2020-01-01\n1: {en: One, zh: 一号}\nb: {en: [x], zh: 乙乙}\n",
        ["a: ", "1: an id must be a word", "b.en: "],
    ),
    "commands.yaml": (
        "commands: {ours: {run: 5}, b: 5}\nrefused: [{pattern: '(a|a)+$'}]\n",
        ["commands.ours.effect: is missing", "commands.b: must be a map"],
    ),
    "codes/x.yaml": (
        "family: acl\nrows:\n- 5\n- {code: '1'}\n- {code: '507999', en: Ours}\n- {code: '507999', en: Twice}\n",
        ["rows.0.code: not a mapping", "rows.1.en: missing", "rows.3.code: 507999 stands twice"],
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_bad_rows_are_named_and_the_others_are_used(run: Run, overlay: Path, name: str) -> None:
    text, expected = TABLES[name]
    write(overlay, {name: text})
    answers(run, overlay)
    run("why", "--issue", "--kb", str(overlay), stdin="RuntimeError: npu error 507999\n")
    problems = Knowledge.load([overlay]).problems
    for fault in expected:
        assert any(f": {fault}" in problem for problem in problems), problems


@pytest.mark.parametrize("name", [*TABLES, "synonyms.yaml"])
@pytest.mark.parametrize("text", ["5\n", "", "x\n", "[1, null, x]\n", "{a: 1, b: [2]}\n", "{1: {2: 3}}\n", "rows: 5\n"])
def test_a_table_of_another_shape_stops_nothing(run: Run, overlay: Path, name: str, text: str) -> None:
    write(overlay, {name: text})
    answers(run, overlay)
    _, out, err = run("why", "--issue", "--kb", str(overlay), stdin="RuntimeError: npu error 507999\n")
    assert out, err


@pytest.mark.parametrize("head", ["family: [1]", "family: acl\nsources: 5", "family: acl\nhandling: {a: 5}"])
def test_a_catalogue_with_a_bad_head_is_named(run: Run, overlay: Path, head: str) -> None:
    row = "{code: '507018', en: x, source: s, handling: a}"
    write(overlay, {"codes/bad.yaml": f"{head}\nrows:\n- {row}\n", "codes/good.yaml": GOOD_CODES})
    assert f"{overlay}/codes/bad.yaml:" in answers(run, overlay)
    assert (Knowledge.load([overlay]).lookup("acl", "507998") or {})["meaning"]["en"] == "Our own fault"


NO_FACTS = "table: chip_fact\nrows: []\n"
GOOD_CODES = "family: acl\nrows:\n- {code: '507998', en: Our own fault}\n"


def test_an_overlay_of_codes_alone_is_clean(run: Run, overlay: Path) -> None:
    write(
        overlay, {"codes/ours.yaml": GOOD_CODES, ".github/workflows/ci.yaml": "on: push\n", "matrix/x.yaml": NO_FACTS}
    )
    assert answers(run, overlay) == ""
    assert run("explain", "507998", "--kb", str(overlay))[0] == 0
    assert run("check", "--kb", str(overlay))[:2] == (0, "0 entries checked: no problems\n")


def test_check_names_all_that_is_wrong_with_an_overlay(run: Run, overlay: Path) -> None:
    write(overlay, {"codes/x.yaml": TABLES["codes/x.yaml"][0], "trackers.yaml": "[1]\n", "zz-own.yaml": "id: x\n"})
    status, out, _ = run("check", "--kb", str(overlay))
    assert status == 1
    assert all(f"{overlay / name}:" in out for name in ("codes/x.yaml", "trackers.yaml", "zz-own.yaml"))


def test_a_name_that_is_no_text_is_shown_on_one_line(run: Run, overlay: Path) -> None:
    Path(os.fsdecode(os.fsencode(overlay) + b"/a\xff\nb.yaml")).write_text("id: x\n")
    assert len(answers(run, overlay).splitlines()) == 1


def test_a_cache_that_others_can_write_is_not_used(
    overlay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(tmp_path / "cache"))
    Knowledge.load([overlay])
    folder = tmp_path / "cache" / COMPILED
    (first,) = folder.iterdir()
    before = first.stat()
    folder.chmod(0o777)
    assert (Knowledge.load([overlay]).entry("built-in") or {})["id"] == "built-in"
    assert first.stat() == before
    folder.chmod(0o700)
    first.rename(tmp_path / "real.db")
    first.symlink_to(tmp_path / "real.db")
    Knowledge.load([overlay])
    assert [path.is_symlink() for path in folder.iterdir()] == [False]


def test_a_pipe_in_the_cache_does_not_hang(overlay: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPU_KB_CACHE", str(tmp_path / "cache"))
    Knowledge.load([overlay])
    (path,) = (tmp_path / "cache" / COMPILED).iterdir()
    path.unlink()
    os.mkfifo(path.with_name(f"{path.name.rpartition('-')[0]}-00000000.db"))
    assert (Knowledge.load([overlay]).entry("built-in") or {})["id"] == "built-in"


def test_a_text_pattern_has_bounds() -> None:
    for source in ("ab<*>c<*>d<*>e", "ab<int>" * 7, "x" * 1_001, "ab <word:x> <int:x>"):
        with pytest.raises(ValueError):
            TextPattern.parse(source)
