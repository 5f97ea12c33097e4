"""Draft entries from Gitee issues: the JSON lists of its REST API.

    npu-kb import gitee-issues page-1.json page-2.json --out drafts

The lists are those of GET /api/v5/repos/OWNER/NAME/issues?state=all; put the comments of an issue into its `comments`
as a list if you want them in the draft.
"""

from __future__ import annotations

from npu_kb.importing.issues import import_issues


def main(arguments: list[str]) -> int:
    """Make drafts of the issues; exit status 1 if some were faulty."""
    return import_issues(arguments, "gitee-issues", __doc__, "https://gitee.com")
