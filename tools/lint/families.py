"""A family of operators has all its rooms: definition, MLIR side, kernels, tests of both, reference."""

import re

from tree import Finding


def check(tree):
    findings = []
    for build in tree.paths("ops/*/BUILD"):
        family = re.search(r'op_family\(\s*name = "(\w+)"', tree.text(build))
        if family:
            findings += _check_family(tree, build.rpartition("/")[0], family.group(1))
    return findings


def _check_family(tree, folder, name):
    findings = []
    if folder != "ops/" + name:
        findings.append(Finding(folder + "/BUILD", 0, "family: expected its folder's name, got %s" % name))
    # Kernels by hand, or a description of which they are generated.
    written = not tree.paths(folder + "/cells.cc") or tree.paths(folder + "/cpu.cc")
    kernels = ("cpu.cc", "cpu*_test.cc") if written else ("generated*_test.cc",)
    for pattern in (name + ".td", "ops.h", "ops.cc", *kernels, "test/invalid*.mlir", "test/*.mlir"):
        if not tree.paths("%s/%s" % (folder, pattern)):
            findings.append(Finding(folder, 0, "family %s: expected %s, found none" % (name, pattern)))
    if '"%s": ' % name not in tree.text("ops/families.bzl"):
        findings.append(Finding("ops/families.bzl", 0, "expected %s among them, found none" % name))
    return findings
