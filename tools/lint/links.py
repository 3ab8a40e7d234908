"""What the documentation names exists: the targets of its links and the headings in them, the files and folders it writes in
backticks. Its index leads to every how-to, and every folder at the top has a README."""

import os
import re

from tree import Finding

INDEX = "docs/README.md"
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ +(.*?) *$", re.M)
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
NAMED = re.compile(r"`((?:compiler|docs|models|ops|runtime|tests|third_party|tools)/[\w./-]+)`")


def check(tree):
    findings = []
    for path in tree.paths("**/*.md"):
        for number, line in tree.lines(path):
            for target, part in LINK.findall(line):
                if "://" in target:
                    continue
                file = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
                if not _exists(tree, file):
                    findings.append(Finding(path, number, "link: expected a file, got %s" % target))
                elif part and file.endswith(".md") and part not in _anchors(tree.text(file)):
                    findings.append(Finding(path, number, "link: expected a heading of %s, got #%s" % (file, part)))
            for name in NAMED.findall(line):
                if not _exists(tree, name.rstrip("/.")):
                    findings.append(Finding(path, number, "expected a file or folder, got `%s`" % name))
    return findings + _unlisted(tree) + _undescribed(tree)


def _unlisted(tree):
    """How-tos that the index does not link."""
    if INDEX not in tree:
        return []
    linked = {os.path.normpath(os.path.join("docs", target)) for target, _ in LINK.findall(tree.text(INDEX))}
    return [Finding(INDEX, 0, "expected a link to %s, found none" % path)
            for path in tree.paths("docs/howto/*.md") if path not in linked]


def _undescribed(tree):
    """Folders at the top without a README."""
    if INDEX not in tree:
        return []
    folders = {path.split("/")[0] for path in tree.paths("*/**") if not path.startswith(".")}
    return [Finding(folder + "/README.md", 0, "expected, as every folder at the top has one, found none")
            for folder in sorted(folders) if folder + "/README.md" not in tree]


def _anchors(text):
    """The parts of a page that a link can name: its headings, as sites of repositories make anchors of them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in
            HEADING.findall(FENCE.sub("", text))}


def _exists(tree, path):
    return path in tree or tree.has_folder(path)
