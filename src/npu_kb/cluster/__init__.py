"""Logs of a whole cluster: what is read, which rank failed first, and why."""
