"""Readers of outside sources, one module each, that turn them into catalogues or draft entries."""
