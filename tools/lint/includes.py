"""Who includes whom, against rules.toml."""

import re

from tree import Finding

SOURCES = ("**/*.cc", "**/*.h", "**/*.cu", "**/*.cuh")
OWN = ("compiler/", "ops/", "runtime/", "models/", "tools/", "tests/")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def sources(tree):
    return [path for pattern in SOURCES for path in tree.paths(pattern) if not path.startswith("third_party/")]


def check(tree, rules):
    findings = []
    for path in sources(tree):
        layer = rules.layer_of(path)
        if layer is None:
            findings.append(Finding(path, 0, "layer: expected one in tools/lint/rules.toml, got none"))
            continue
        for number, line in tree.lines(path):
            include = INCLUDE.match(line)
            if include:
                problem = _problem(path, layer, include.group(1), include.group(2), rules)
                if problem:
                    findings.append(Finding(path, number, problem))
    return findings


def _problem(path, layer, quote, header, rules):
    """What is wrong with an include, or None."""
    if header.startswith(OWN):
        if quote == "<":
            return "include: expected \"%s\", got <%s>" % (header, header)
        if not rules.may_include(path, layer, header):
            return "include %s: the layer `%s` may not include it" % (header, layer["name"])
        return None
    vendor = rules.vendor_of(header)
    if vendor is None:
        return "include %s: expected a path from the root or a vendor of tools/lint/rules.toml" % header
    if not rules.may_know(path, vendor):
        return "include %s: %s is not known here" % (header, vendor["name"])
    return None
