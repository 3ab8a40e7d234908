"""BUILD files keep their targets private to those they name."""

from tree import Finding, matches_any

# What every package may use: third parties, the precompiled header, the build macros' own files.
PUBLIC = ("third_party/**", "tools/pch/**", "tools/build_defs/**")


def check(tree):
    findings = []
    for path in tree.paths("**/BUILD") + tree.paths("**/*.bzl"):
        if matches_any(path, PUBLIC):
            continue
        for number, line in tree.lines(path):
            if "//visibility:public" in line.split("#")[0]:
                findings.append(Finding(path, number, "visibility: expected those who use it, got public"))
    return findings
