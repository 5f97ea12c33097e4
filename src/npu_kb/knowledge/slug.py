"""What an id looks like; light, for modules that must not load the models."""

SLUG = r"[a-z0-9]+(-[a-z0-9]+)*"
"""Lower-case words joined by -."""
