"""Draft entries from GitHub issues: the JSON of `gh issue list` or of the REST API.

    gh issue list --repo OWNER/NAME --state closed --limit 5000 \\
        --json number,title,url,body,author,comments > issues.json
    npu-kb import github-issues issues.json --out drafts

Lists of the REST API (GET /repos/OWNER/NAME/issues) do as well, one after the other, as lists of pages or one issue a
line. Their comments are separate; put those of an issue into its `comments` as a list if you want them in the draft.
"""

from __future__ import annotations

from npu_kb.importing.issues import import_issues


def main(arguments: list[str]) -> int:
    """Make drafts of the issues; exit status 1 if some were faulty."""
    return import_issues(arguments, "github-issues", __doc__, "https://github.com")
