"""What the lines of logs that are read as one text say of ranks: of how many they are, and whom those wait for."""

from __future__ import annotations

from npu_kb.cluster.clocks import Clocks
from npu_kb.cluster.clues import LITERALS, ClueReader
from npu_kb.cluster.observation import Clue
from npu_kb.cluster.suspects import Suspect, Testimony
from npu_kb.cluster.times import read_time
from npu_kb.cluster.who import Who
from npu_kb.intake.logtext import LogText

_LOOKED_AT = 500
"""Lines of a source that are asked for their writer, beside those that hold a clue."""


class JoinedLogs:
    """The ranks that the lines of a text are of and speak of."""

    def __init__(self, log: LogText) -> None:
        self._clues = _clues(log)
        self._who = Who({line.source for line in log.lines}, self._clues)

    @property
    def ranks(self) -> int:
        """How many ranks there are logs of."""
        return len(self._who.logged)

    def waited_for(self) -> list[Suspect]:
        """The parties that others wait for, if the lines name nobody for more than that."""
        suspects = Testimony(self._who, Clocks(self._who, self._clues), self._clues).suspects()
        return [suspect for suspect in suspects if suspect.reason == "waited-for"]


def _clues(log: LogText) -> list[Clue]:
    readers: dict[str, ClueReader] = {}
    for line in log.lines:
        reader = readers.setdefault(line.source, ClueReader(line.source))
        text = f"[{line.rank}]: {line.text}" if line.rank else line.text
        if any(literal in text for literal in LITERALS):
            reader.read(text, line.number, read_time(line.text))
        elif reader.writers.lines < _LOOKED_AT:
            reader.writers.look_at([text])
    return [clue for reader in readers.values() for clue in reader.all_clues]
