"""clang-format, in the style of each file's layer."""

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from includes import sources
from tree import Finding

PROGRAM = "clang-format-19"
STYLES = {"google": ".clang-format", "llvm": "compiler/.clang-format"}
BATCH = 40  # files a process: starting one costs as much as formatting a few


def batches(tree, rules):
    """(style, paths) pairs; every C++ file and every script of a page is in one."""
    by_style = {}
    for path in sources(tree) + tree.paths("tools/**/*.js"):
        layer = rules.layer_of(path)
        if layer:
            by_style.setdefault(layer["style"], []).append(path)
    for style, paths in sorted(by_style.items()):
        for first in range(0, len(paths), BATCH):
            yield style, paths[first:first + BATCH]


def check(tree, rules, fix=False):
    """One finding a file; with `fix` formats the files instead."""
    def run(batch):
        style, paths = batch
        action = ["-i"] if fix else ["--dry-run"]
        return subprocess.run([PROGRAM, "--style=file:" + STYLES[style]] + action + paths, cwd=tree.root or None,
                              capture_output=True, text=True)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, batches(tree, rules)))
    first_lines = {}
    for result in results:
        places = re.findall(r"^(\S+?):(\d+):\d+: warning: code should be clang-formatted", result.stderr, re.M)
        for path, line in places:
            first_lines.setdefault(path, int(line))
        if result.returncode != 0:
            return [Finding(PROGRAM, 0, result.stderr.strip())]
    return [Finding(path, line, "format: expected what %s writes (tools/lint/lint --fix)" % PROGRAM)
            for path, line in sorted(first_lines.items())]
