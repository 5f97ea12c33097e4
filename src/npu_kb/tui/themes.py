"""The looks to choose from; which one fits a terminal."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES, Theme

_PLAIN = "no-colour"
THEMES = ["ansi-dark", "ansi-light", "textual-dark", "textual-light", "gruvbox", _PLAIN]
"""`ansi` ones use the terminal's own 16 colours."""

_DEFAULT = "ansi_default"
_VARIABLES = BUILTIN_THEMES["ansi-dark"].variables
PLAIN = Theme(
    name=_PLAIN, ansi=True, primary=_DEFAULT, secondary=_DEFAULT, warning=_DEFAULT, error=_DEFAULT, success=_DEFAULT,
    accent=_DEFAULT, foreground=_DEFAULT, background=_DEFAULT, surface=_DEFAULT, panel=_DEFAULT, boost=_DEFAULT,
    variables={name: _DEFAULT if value.startswith("ansi_") else value for name, value in _VARIABLES.items()},
)  # fmt: skip
"""No colour at all: what matters is bold, underlined or reversed in every theme."""


def first_theme(remembered: str, no_colour: bool, colours: str) -> str:
    """The theme to start with: none of colours where NO_COLOR is set, the terminal's own where it has 16."""
    if no_colour:
        return _PLAIN
    if remembered in THEMES:
        return remembered
    return "textual-dark" if colours in ("truecolor", "256") else "ansi-dark"
