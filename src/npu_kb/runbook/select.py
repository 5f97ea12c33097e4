"""Which entries a runbook holds."""

from __future__ import annotations

from typing import Any, NamedTuple

from npu_kb.diagnosis.applies import applicability
from npu_kb.errors import NpuKbError
from npu_kb.knowledge.base import Knowledge


class Selection(NamedTuple):
    """What is asked for; an empty condition lets all pass."""

    topics: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    versions: tuple[tuple[str, str], ...] = ()
    """(component, version), such as ("cann", "8.1.RC1"): entries that do not concern it are left out."""

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return not any(self)

    def holds(self, entry: dict[str, Any]) -> bool:
        """Whether an entry is asked for."""
        chips = entry["versions"]["chip"]
        return (
            (not self.topics or entry["topic"] in self.topics)
            and (not self.layers or entry["layer"] in self.layers)
            and (not self.chips or not chips or any(chip in chips for chip in self.chips))
            and (not self.versions or _concerns(entry["versions"], dict(self.versions)))
        )


def _concerns(conditions: dict[str, Any], versions: dict[str, str]) -> bool:
    """Whether an entry may show on these versions: not outside its range, and not fixed in them."""
    return applicability({**conditions, "chip": []}, versions)["state"] not in ("not-affected", "fixed")


def selected(knowledge: Knowledge, selection: Selection) -> list[dict[str, Any]]:
    """The entries asked for, by id; NpuKbError if a name is unknown or nothing is left."""
    entries = sorted(knowledge.entries(), key=lambda entry: str(entry["id"]))
    _refuse_unknown("topic", selection.topics, set(knowledge.topics()))
    _refuse_unknown("layer", selection.layers, {entry["layer"] for entry in entries})
    found = [entry for entry in entries if selection.holds(entry)]
    if not found:
        raise NpuKbError("no entry fits all of these conditions; leave one out")
    return found


def _refuse_unknown(kind: str, asked: tuple[str, ...], known: set[str]) -> None:
    for name in asked:
        if name not in known:
            near = _near(name, known)
            hint = f"did you mean {', '.join(near)}?" if near else f"there are: {', '.join(sorted(known))}"
            raise NpuKbError(f"{name!r} is no {kind}; {hint}")


def _near(name: str, known: set[str]) -> list[str]:
    """The known names that hold this one, else those spelt like it."""
    import difflib

    asked = name.lower()
    return sorted(other for other in known if asked and asked in other) or difflib.get_close_matches(asked, known)
