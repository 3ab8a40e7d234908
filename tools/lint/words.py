"""Words of rules.toml that a source file may not hold."""

import re

from includes import sources
from tree import Finding, matches_any

# A string or character literal, kept; or a comment, dropped.
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//.*')


def code_of(line):
    """A line without its // comment and with its literals emptied."""
    return LITERAL_OR_COMMENT.sub(lambda found: "" if found.group().startswith("//") else '""', line)


def check(tree, rules):
    words = [(re.compile(word["pattern"]), word["why"], word.get("except", [])) for word in rules.words]
    findings = []
    for path in sources(tree):
        asked = [(pattern, why) for pattern, why, spared in words if not matches_any(path, spared)]
        for number, line in tree.lines(path):
            for pattern, why in asked:
                found = pattern.search(line) and pattern.search(code_of(line))
                if found:
                    findings.append(Finding(path, number, "%s: %s" % (found.group().rstrip("("), why)))
    return findings
