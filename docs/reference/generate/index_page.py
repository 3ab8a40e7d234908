"""The first page of the reference: its pages, and every op with its summary.

usage: index_page.py .../generated/PAGE.md...
"""

import re
import sys

from markdown import page, table


def entry(path):
    """(path below the reference, title, [(op, summary)]) of a page."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    title = re.search(r"^# (.*)$", text, re.M).group(1)
    ops = re.findall(r"^### `((?:weft|model|task)\.\w+)`.*\n\n_(.*)_$", text, re.M)
    return path.partition("/generated/")[2], title, ops


def main():
    entries = [entry(path) for path in sys.argv[1:]]
    body = ["Everything here is written by `tools/docs` from the sources; a test fails when it is not what they say.", ""]
    body += ["- [%s](%s)" % (title, path) for path, title, _ in entries]
    body += ["", "## Every op", ""]
    body += table(["Op", "What it does"],
                  [["[`%s`](%s)" % (op, path), summary] for op, path, summary in sorted(
                      (op, path, summary) for path, _, ops in entries for op, summary in ops)])
    sys.stdout.write(page("Reference", ["the other pages"], body))


if __name__ == "__main__":
    main()
