"""Error codes of the Ascend stack.

A code has a `family` (see `model.FAMILIES`) and a `key`, its one normal spelling in that family.
`spelling` knows the forms of a code, `mentions` finds codes in logs, `readings` says what a word given to `explain`
could mean, `catalogue` reads kb/codes/*.yaml.
"""
