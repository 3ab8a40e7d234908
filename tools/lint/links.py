"""What the documentation names exists: the targets of its links, the files and folders it writes in backticks."""

import os
import re

from tree import Finding

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAMED = re.compile(r"`((?:compiler|docs|models|ops|runtime|tests|third_party|tools)/[\w./-]+)`")


def check(tree):
    findings = []
    for path in tree.paths("**/*.md"):
        for number, line in tree.lines(path):
            for target in LINK.findall(line):
                if "://" not in target and not _exists(tree, os.path.normpath(
                        os.path.join(os.path.dirname(path), target))):
                    findings.append(Finding(path, number, "link: expected a file, got %s" % target))
            for name in NAMED.findall(line):
                if not _exists(tree, name.rstrip("/.")):
                    findings.append(Finding(path, number, "expected a file or folder, got `%s`" % name))
    return findings


def _exists(tree, path):
    return path in tree or tree.has_folder(path)
