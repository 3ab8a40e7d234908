"""A pass's name, flag, file and test share a stem: ShardInfer, weft-shard-infer, shard/infer.cc, shard/test/infer.mlir."""

import re

from tree import Finding

PASS = re.compile(r'def\s+(\w+)\s*:\s*Pass<\s*"([^"]+)"')


def check(tree):
    findings = []
    for path in tree.paths("compiler/passes/*/Passes.td"):
        folder = path.rpartition("/")[0]
        for number, line in tree.lines(path):
            found = PASS.search(line)
            if found:
                for problem in _problems(tree, folder, found.group(1), found.group(2)):
                    findings.append(Finding(path, number, "pass %s: %s" % (found.group(1), problem)))
    return findings


def _problems(tree, folder, name, flag):
    phase = folder.rpartition("/")[2]
    expected = "weft-" + re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    if flag != expected:
        yield "flag: expected %s, got %s" % (expected, flag)
        return
    words = flag[len("weft-"):]
    if words != phase and not words.startswith(phase + "-"):
        yield "phase: expected a name that begins with %s, got %s" % (phase, name)
        return
    stem = (words[len(phase) + 1:] or phase).replace("-", "_")
    for file in ("%s/%s.cc" % (folder, stem), "%s/test/%s.mlir" % (folder, stem)):
        if file not in tree:
            yield "expected %s, found none" % file
