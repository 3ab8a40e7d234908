"""A page of the reference from .td files.

usage: ods_page.py --title TITLE --tblgen MLIR-TBLGEN --generator GENERATOR [--dialect NAME] FILE.td
       ods_page.py --title TITLE --passes PHASE=FILE.md...

Prints Markdown. With --passes the inputs are what `mlir-tblgen -gen-pass-doc` wrote, one a phase, in order.
"""

import argparse
import html
import re
import subprocess
import sys

from markdown import leading_comment, page, table

LLVM_INCLUDE = "/usr/lib/llvm-19/include"
# What C++ needs and a reader of the reference does not.
SILENT = ("Traits: ", "Effects: ", "[TOC]", "<!--")
INTERFACES_FOR_READERS = ("DifferentiableOpInterface", "DecomposableOpInterface", "Symbol", "MemoryEffectOpInterface")
# mlir-tblgen writes a capital letter at the start of a summary, of a formula too: "_E^x_", "_A + b_", "_Max(a, b)_".
FORMULA = re.compile(r"_(?:[A-Z](?=\^| [-+*/]? ?\w\b)|[B-Z](?= )|[A-Z][a-z]*(?=\())")
HTML_ROW = re.compile(r"<tr><td><code>(.*?)</code></td><td>(.*?)</td><td>(.*?)</td></tr>")


def tidy(text):
    """The lines of mlir-tblgen's Markdown without its notice, its title and C++ bookkeeping; HTML tables as Markdown."""
    lines, rows = [], None
    for line in text.splitlines():
        row = HTML_ROW.match(line)
        if line == "<table>":
            rows = []
        elif row:
            rows.append(["`%s`" % row.group(1), "`%s`" % row.group(2).lstrip(":"), html.unescape(row.group(3))])
        elif line == "</table>":
            lines += table(["Attribute", "C++ type", "Description"], rows)
            rows = None
        elif rows is not None or line.startswith(SILENT) or re.match(r"# '\w+' Dialect|# \w+ definitions", line):
            continue
        elif line.startswith("Interfaces: "):
            kept = [name for name in re.findall(r"`(\w+)", line) if name in INTERFACES_FOR_READERS]
            lines += ["Interfaces: " + ", ".join("`%s`" % name for name in kept)] if kept else []
        elif line.startswith("| ") and not line.endswith("|"):
            lines.append(line + " |")
        elif "`` custom<" in line:
            lines.append(line.replace("`` ", ""))  # ODS for "no space here"
        elif line.startswith("#") and lines and lines[-1]:
            lines += ["", line]
        else:
            lines.append(FORMULA.sub(lambda found: found.group().lower(), line, count=1)
                         if line.startswith("_") else line)
    return lines


def summary_apart(lines):
    """mlir-tblgen puts no blank line between a dialect's summary and its description."""
    first = next((i for i, line in enumerate(lines) if line), None)
    if first is None or first + 1 == len(lines) or not lines[first + 1]:
        return lines
    return lines[:first] + ["_%s_" % lines[first], ""] + lines[first + 1:]


def tblgen_page(arguments):
    source = arguments.inputs[0]
    command = [arguments.tblgen, "-" + arguments.generator, "-I", ".", "-I", LLVM_INCLUDE, source]
    if arguments.dialect:
        command.append("-dialect=" + arguments.dialect)
    body = tidy(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if arguments.generator == "gen-dialect-doc":
        body = summary_apart(body)
    else:
        with open(source, encoding="utf-8") as file:
            body = leading_comment(file.read()) + [""] + body
    return page(arguments.title, [source], body)


def passes_page(arguments):
    body = []
    for phase, _, path in (argument.partition("=") for argument in arguments.inputs):
        with open(path, encoding="utf-8") as file:
            body += ["", "## " + phase, ""] + tidy(file.read())
    return page(arguments.title, ["compiler/passes/*/Passes.td"], body)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--title", required=True)
    parser.add_argument("--tblgen")
    parser.add_argument("--generator")
    parser.add_argument("--dialect")
    parser.add_argument("--passes", action="store_true")
    parser.add_argument("inputs", nargs="+")
    arguments = parser.parse_args()
    sys.stdout.write(passes_page(arguments) if arguments.passes else tblgen_page(arguments))


if __name__ == "__main__":
    main()
