"""What holds for every text file: length, no work left behind, no machine's paths; headers' guards and comments."""

import re

from tree import Finding, matches_any

LONGEST = 800
MEASURED = ("**/*.{cc,h,cu,cuh,td,py,bzl,sh,proto,mlir,toml}", "tools/*", "docs/{tour,howto,design}/**")
# Written so that this file passes its own check.
MARKERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
MACHINE = re.compile(r"(?<![\w.~$}])/(work|root|Users|home/(?!\w*\$)\w+)/")


def check(tree):
    findings = []
    for path in tree.paths():
        for number, line in tree.lines(path):
            marker = MARKERS.search(line)
            if marker:
                findings.append(Finding(path, number, "marker: expected finished work, got %s" % marker.group(1)))
            machine = MACHINE.search(line)
            if machine:
                findings.append(Finding(path, number, "path: expected none of one machine, got %s" % machine.group()))
        if matches_any(path, MEASURED) and path.count("\n") == 0:
            length = len(tree.text(path).splitlines())
            if length > LONGEST:
                findings.append(Finding(path, 0, "length: expected at most %d lines, got %d" % (LONGEST, length)))
        if path.endswith(".h"):
            findings += _guard(tree, path)
            if not tree.text(path).startswith("//"):
                findings.append(Finding(path, 1, "header: expected a comment that says what it is for, got none"))
    return findings


def _guard(tree, path):
    expected = "WEFT_%s_" % re.sub(r"[^A-Z0-9]", "_", path.upper())
    guard = re.search(r"^#ifndef (\S+)", tree.text(path), re.M)
    got = guard.group(1) if guard else "none"
    return [] if got == expected else [Finding(path, 0, "guard: expected %s, got %s" % (expected, got))]
