"""The answer for a cluster on one screen: the first fault, what follows from it, who is missing."""

from __future__ import annotations

from typing import Any

from npu_kb.render.cluster_document import first_events, number_ranges
from npu_kb.render.page import Page, remedies
from npu_kb.render.text import VERDICT_NAMES, choose, clipped, filled, width_of

_MOST_ROWS = 8
_MOST_FAULTS = 4
_NARROWEST, _WIDEST = 12, 40
"""Columns for the names of a timeline."""
_PARTIES_WIDTH = 21
_LEAST_TITLE = 20
"""Columns; with less room the title of an entry is left out, never a part of its id."""
_TEXTS = {
    "first": {"en": "FIRST FAULT", "zh": "首个故障"},
    "nothing": {"en": "No fault was found in {sources:log}.", "zh": "在 {sources} 份日志中没有发现故障。"},
    "waiting": {
        "en": "Nobody in {sources:log} tells what failed first: those below only waited for others. "
        "Collect the logs of all hosts, and run/plog, which says who is which rank.",
        "zh": "{sources} 份日志中只有等待他人而超时的记录，看不出谁先出错。请采集所有主机的日志，"
        "并包括 run/plog（其中写明各进程的 rank）。",
    },
    "others": {"en": "Another, independent fault", "zh": "另一个独立的故障"},
    "more_faults": {"en": "... and {count} more; --format json has them.", "zh": "另有 {count} 个，见 --format json。"},
    "beside": {"en": "Told as well, less exactly: {title} [{entry}]", "zh": "同一故障的笼统说法：{title} [{entry}]"},
    "outlived": {
        "en": "The job went on: a minute later this rank or host still waited for others. It may not be what ended it.",
        "zh": "此后作业仍在继续：一分钟后它还在等待其他 rank，因此未必是作业终止的原因。",
    },
    "unsure": {
        "en": "Which of the first two came first is not sure: their times are missing or within 5 seconds.",
        "zh": "前两个故障的先后不确定：缺少时间，或相差不到 5 秒。",
    },
    "followers": {"en": "What follows", "zh": "后续现象"},
    "parties": {"en": "{count:rank or host|ranks or hosts}", "zh": "{count} 个 rank 或主机"},
    "from": {"en": "from {time}", "zh": "自 {time}"},
    "unknown": {"en": "rank and host unknown", "zh": "rank 和主机未知"},
    "more": {"en": "and {count} more", "zh": "等，另有 {count} 个"},
    "parties_named": {"en": "ranks {ranks}", "zh": "rank {ranks}"},
    "ranks": {
        "en": "Ranks: {expected} in the job, logs of {with_logs}{hosts}.",
        "zh": "作业共 {expected} 个 rank，已读取 {with_logs} 个 rank 的日志{hosts}。",
    },
    "hosts": {"en": "; hosts: {hosts}", "zh": "，来自 {hosts} 台主机"},
    "get_logs": {
        "en": "There are no logs of it, so that it may wait for another one too. Get these logs next: {missing}.",
        "zh": "这里缺少它的日志，它也可能在等待别的 rank。请先采集以下日志：{missing}。",
    },
    "without_logs": {"en": "No logs of rank {ranks}.", "zh": "缺少日志的 rank：{ranks}。"},
    "perhaps_without_logs": {
        "en": "No logs of rank {ranks}, unless in what was left out.",
        "zh": "缺少日志的 rank（也可能在未采用的部分中）：{ranks}。",
    },
    "unheard": {
        "en": "Read in part only, so that nothing is made of their silence: rank {ranks}.",
        "zh": "以下 rank 的日志未读全，没有报错不作为依据：{ranks}。",
    },
    "since": {
        "en": "Only lines from {since} on were read; that a rank tells no error proves nothing.",
        "zh": "只读取了 {since} 及以后的日志行，没有报错不作为依据。",
    },
    "until": {
        "en": "Only lines up to {until} were read; that a rank tells no error proves nothing.",
        "zh": "只读取了 {until} 及以前的日志行，没有报错不作为依据。",
    },
    "between": {
        "en": "Only lines from {since} up to {until} were read; that a rank tells no error proves nothing.",
        "zh": "只读取了 {since} 至 {until} 之间的日志行，没有报错不作为依据。",
    },
    "zone": {"en": "Times are {zone}.", "zh": "以上时间的时区：{zone}。"},
    "without_error": {"en": "Without any error: rank {ranks}.", "zh": "没有任何报错的 rank：{ranks}。"},
    "without_known_fault": {
        "en": "Errors, but no known fault: rank {ranks}.",
        "zh": "有报错但没有已知故障的 rank：{ranks}。",
    },
    "raised": {"en": "The last exception in its log: {error}", "zh": "它的日志中最后一个异常：{error}"},
    "clock": {
        "en": "Clock of {host}: {seconds} s {side} the others, as communicators of {ranks:rank} tell; corrected.",
        "zh": "{host} 的时钟比其他主机{side} {seconds} 秒（依据 {ranks} 个 rank 的通信域建立时间），已校正。",
    },
    "ahead": {"en": "ahead of", "zh": "快"},
    "behind": {"en": "behind", "zh": "慢"},
    "earlier": {
        "en": "Logs of {count:earlier run} are there as well; this is the last run with a fault.",
        "zh": "另有 {count} 次更早运行的日志；以上为最近一次有故障的运行。",
    },
    "earlier_run": {
        "en": '{time} {party}: {cause}; logs read with --until "{until}" tell that run.',
        "zh": '{time} {party}：{cause}；用 --until "{until}" 读取日志可得到该次运行的结论。',
    },
    "log_ahead": {
        "en": "Those who wait gave up before this cause is told: the clock or zone of {source} seems {hours} h ahead. "
        "Which came first is not sure.",
        "zh": "等待者的超时早于该故障的记录时间：{source} 的时钟或时区似乎快了 {hours} 小时，先后不确定。",
    },
    "skipped": {
        "en": "Not read: {count:source}, first {source} ({why}).",
        "zh": "未读取 {count} 份，首个为 {source}（{why}）。",
    },
    "left_out": {
        "en": "Left out: {count:damaged scan}, first {file} ({why}); what stands in it is not told.",
        "zh": "{count} 份扫描结果已损坏，损坏部分未采用，首个为 {file}（{why}）。",
    },
    "hint": {
        "en": "More: {command} with --timeline, --by host or --plot FILE.svg.",
        "zh": "更多：{command} 加 --timeline、--by host 或 --plot FILE.svg。",
    },
}
_REASONS = {
    "lost": {
        "en": "{count:rank} no longer got its heartbeat: its process ended, or its network did.",
        "zh": "{count} 个 rank 收不到该 rank 的心跳：进程已退出或网络中断。",
    },
    "stuck": {"en": "{count:rank says|ranks say} that it is stuck.", "zh": "{count} 个 rank 指出它已卡住。"},
    "cqe": {
        "en": "{count:rank} had RDMA errors (CQE) towards it.",
        "zh": "{count} 个 rank 到它的 RDMA 通信出错（CQE）。",
    },
    "absent": {
        "en": "{count:rank says|ranks say} that it never connected.",
        "zh": "{count} 个 rank 指出它始终没有建链。",
    },
    "version": {
        "en": "Its version is another than that of the {count:other} that compared.",
        "zh": "它的版本与另外 {count} 个 rank 不一致。",
    },
    "differs": {
        "en": "Its arguments are others than those of {count:rank}.",
        "zh": "它的通信参数与另外 {count} 个 rank 不一致。",
    },
    "collective": {
        "en": "It was in another collective operation than {count:rank}.",
        "zh": "它执行的集合通信算子与另外 {count} 个 rank 不同。",
    },
    "waited-for": {
        "en": "{count:rank waits|ranks wait} for it, directly or through others, and it waits for nobody.",
        "zh": "{count} 个 rank 直接或间接等待它，而它不等待任何 rank。",
    },
    "without-logs": {
        "en": "{count:rank waits|ranks wait} for it, directly or through others.",
        "zh": "{count} 个 rank 直接或间接等待它。",
    },
    "silent": {
        "en": "Its logs tell no known fault while {count:rank} timed out; the time is that of its last line.",
        "zh": "{count} 个 rank 超时，而它的日志没有已知故障；时间取其最后一行。",
    },
    "no-logs": {
        "en": "There are no logs, while {count:rank} timed out. Collect them first.",
        "zh": "{count} 个 rank 超时，而这里缺少日志，请先采集。",
    },
    "late": {
        "en": "It timed out well after {count:other}, so it came last to the operation: a slow rank.",
        "zh": "它的超时明显晚于另外 {count} 个 rank，即最后进入该算子：慢 rank。",
    },
    "restarted": {
        "en": "Its process ended and began again, and {count:rank} timed out.",
        "zh": "它的进程退出后重新启动，{count} 个 rank 超时。",
    },
}
_PARTS_ZH = {"root": "根因", "effect": "受影响", "waiting": "等待", "testimony": "旁证", "wrapper": "笼统报错"}
"""The parts of events, which are in English."""


def cluster_text(document: dict[str, Any], page: Page, command: str = "npu-kb cluster PATH") -> str:
    """The one-screen answer; how to mend the first fault stands at its end.

    `command` is the one that shows more with further options.
    """
    faults = document["faults"]
    if not faults:
        why = "waiting" if document["followers"] else "nothing"
        page.paragraph(_said(why, page, sources=document["sources"]["read"]))
    for number, fault in enumerate(faults[:_MOST_FAULTS]):
        _first_fault(page, fault, document["ranks"]) if number == 0 else _other_fault(page, fault, number == 1)
    if len(faults) > _MOST_FAULTS:
        page.paragraph(_said("more_faults", page, count=len(faults) - _MOST_FAULTS), 2, "dim")
    if document["ahead"]:
        page.paragraph(_said("log_ahead", page, **document["ahead"]), 2, "dim")
    elif not document["order_is_sure"]:
        page.paragraph(_said("unsure", page), 2, "dim")
    _followers(page, document["followers"])
    _ranks(page, document)
    if faults and "cause" in faults[0]:
        page.blank()
        page.field("cause", choose(faults[0]["cause"], page.lang))
        remedies(page, {**faults[0], "diagnose": faults[0]["diagnose"][:1]})
    page.blank()
    page.paragraph(_said("hint", page, command=clipped(command, 3 * page.width)), 0, "dim")
    return page.text()


def _first_fault(page: Page, fault: dict[str, Any], ranks: dict[str, Any]) -> None:
    verdict = choose(VERDICT_NAMES[fault["verdict"]], page.lang)[0]
    page.paragraph(f"{_said('first', page)}  {_where(fault, page)}  {fault['time_text']}", 0, "bold")
    page.paragraph(f"{verdict}  {_title(fault, page)}", 0, "bold")
    if fault["without_logs"]:
        is_rank = fault["parties"][0]["rank"] in ranks["without_logs"]
        missing = f"rank {number_ranges(ranks['without_logs'])}" if is_rank else fault["parties"][0]["party"]
        page.paragraph(_said("get_logs", page, missing=clipped(missing, page.width)), 0, "bold")
    page.blank()
    if fault["reason"] and "title" in fault:
        page.paragraph(_reason(fault, page))
    if fault["last_exception"]:
        page.paragraph(_said("raised", page, error=fault["last_exception"]))
    for same in fault["beside"]:
        page.paragraph(_said("beside", page, title=choose(same["title"], page.lang)[0], entry=same["entry"]))
    if fault["outlived"] and not fault["reason"]:
        page.paragraph(_said("outlived", page))
    for evidence in fault["evidence"]:
        page.paragraph(
            clipped(f"{evidence['source']}:{evidence['line']}: {evidence['text']}", 3 * page.width), 0, "red"
        )


def _other_fault(page: Page, fault: dict[str, Any], heading: bool) -> None:
    page.blank()
    if heading:
        page.paragraph(_said("others", page), 0, "bold")
    page.paragraph(f"{_where(fault, page)}  {fault['time_text']}  {_title(fault, page)}", 2)
    if fault["reason"] and "title" in fault:
        page.paragraph(_reason(fault, page), 4)
    if fault["last_exception"]:
        page.paragraph(_said("raised", page, error=fault["last_exception"]), 4)


def _followers(page: Page, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    page.blank()
    page.paragraph(_said("followers", page), 0, "bold")
    for row in rows[:_MOST_ROWS]:
        start = _said("from", page, time=row["time_text"]) if row["time_text"] else ""
        title = choose(row["title"], page.lang)[0]
        text = f"{_said('parties', page, count=row['parties']):>{_PARTIES_WIDTH}}  {start}  {row['entry']}"
        room = page.width - 2 - width_of(text)
        page.row(f"{text}: {clipped(title, room - 2)}" if room > _LEAST_TITLE else text)


def _ranks(page: Page, document: dict[str, Any]) -> None:
    page.blank()
    ranks = document["ranks"]
    if ranks["expected"]:
        hosts = _said("hosts", page, hosts=len(document["hosts"])) if document["hosts"] else ""
        page.paragraph(_said("ranks", page, **ranks | {"hosts": hosts}))
    without = "perhaps_without_logs" if document["sources"]["left_out"] else "without_logs"
    groups = {without: "without_logs", "without_error": "without_error", "without_known_fault": "without_known_fault"}
    for name, numbers in ((name, ranks[group]) for name, group in groups.items()):
        if numbers and len(numbers) < ranks["expected"]:
            page.paragraph(clipped(_said(name, page, ranks=number_ranges(numbers)), 2 * page.width))
    if ranks["unheard"] and not document["only"]:
        page.paragraph(clipped(_said("unheard", page, ranks=number_ranges(ranks["unheard"])), 2 * page.width))
    for lines in document["only"]:
        name = "between" if all(lines.values()) else "since" if lines["since"] else "until"
        page.paragraph(_said(name, page, **lines))
    _zone(page, document["zone"])
    for clock in document["clocks"]:
        side = _said("ahead" if clock["seconds"] > 0 else "behind", page)
        page.paragraph(_said("clock", page, **clock | {"side": side, "seconds": f"{abs(clock['seconds']):.1f}"}))
    if document["earlier_runs"]:
        page.paragraph(_said("earlier", page, count=document["earlier_runs"]))
    for run in document["earlier"]:
        party, cause = run["party"] or _said("unknown", page), run["entry"] or run["reason"]
        page.paragraph(
            _said("earlier_run", page, time=run["time_text"], party=party, cause=cause, until=run["until"]), 2
        )
    if skipped := document["sources"]["skipped"]:
        count = sum(row["logs"] for row in skipped)
        page.paragraph(_said("skipped", page, count=count, **skipped[0]))
    if left_out := document["sources"]["left_out"]:
        page.paragraph(_said("left_out", page, count=len(left_out), **left_out[0]))


def _zone(page: Page, zone: str) -> None:
    if zone:
        page.paragraph(_said("zone", page, zone="UTC" if zone == "+00:00" else zone))


def timeline_text(document: dict[str, Any], page: Page, by: str) -> str:
    """The first event of each rank, host or device: one line each, in the order of time."""
    events, unknown = first_events(document, by), _said("unknown", page)
    widest = min(_WIDEST, max([_NARROWEST, *(width_of(event["group"] or unknown) for event in events)]))
    for event in events:
        more = f" (+{event['more']})" if event["more"] else ""
        part = _PARTS_ZH.get(event["part"], event["part"]) if page.lang == "zh" else event["part"]
        part += " " * (9 - width_of(part))
        group = event["group"] or unknown
        row = f"{event['time_text'] or '-':<23}  {group:<{widest}}  {part}  {event['entry']}{more}"
        page.row(row)
    _zone(page, document["zone"])
    return page.text()


def _where(fault: dict[str, Any], page: Page) -> str:
    """`rank 5 (node0, device 5)` and, if it is of several, how many more; all ranks where no line tells of one."""
    party = fault["parties"][0]
    if len(fault["parties"]) > 1 and not fault["evidence"] and all(p["rank"] is not None for p in fault["parties"]):
        numbers = number_ranges(sorted(p["rank"] for p in fault["parties"]))
        return clipped(_said("parties_named", page, ranks=numbers), page.width)
    place = [party["host"]] if party["rank"] is not None and party["host"] else []
    if party["rank"] is not None and party["device"] is not None:
        place.append(f"device {party['device']}")
    more = len(fault["parties"]) - 1
    name = (party["party"] or _said("unknown", page)) + (f" ({', '.join(place)})" if place else "")
    return f"{name} {_said('more', page, count=more)}" if more else name


def _title(fault: dict[str, Any], page: Page) -> str:
    """What happened: the entry's title, else why it is suspected; an entry of others' knowledge has only its id."""
    if "title" in fault:
        return f"{choose(fault['title'], page.lang)[0]} [{fault['entry']}]"
    return _reason(fault, page) if fault["reason"] else str(fault["entry"])


def _reason(fault: dict[str, Any], page: Page) -> str:
    reason = "without-logs" if fault["without_logs"] or fault["unheard"] else fault["reason"]
    return filled(choose(_REASONS[reason], page.lang)[0], count=len(fault["named_by"]))


def _said(name: str, page: Page, **values: Any) -> str:
    return filled(choose(_TEXTS[name], page.lang)[0], **values)
