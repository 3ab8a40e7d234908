#!/usr/bin/python3
"""Checks that the transcripts in Markdown files are what the programs print.

usage: docs/tour/transcripts.py [--update] [--root DIR] [--programs FILE ...] [--] FILE.md ...

A block that begins with ```console check is run: each line `$ command` in a shell, in order, the blocks of a file one
after another in one working folder, whose `out/` is empty at first and whose other entries are those of the root. What
stands below a command must be what it prints (standard error included):

- lines are compared without leading blanks, and any run of blanks counts as one;
- a line indented by just eight blanks more than the one before goes on with it, so that long lines can be wrapped;
- `...` within a line stands for anything within that line, a line `...` for any number of lines;
- in ```console check numbers every number stands for any number.

A command is expected to succeed, the last one of ```console check fails to fail. `<!-- setup: command -->` runs unseen.

--update writes the numbers that are printed into transcripts that differ in nothing but numbers.
--root      the tree; by default the one of this file
--programs  are put on the PATH; by default out/bin/*, which tools/quickstart makes
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SECONDS = 300  # for one command
WRAPPED = 8  # blanks more than the line before that make a line its continuation


@dataclasses.dataclass
class Line:
    """A line of expected output: its text, and the physical lines [begin, end) it comes from."""
    text: str
    begin: int
    end: int


@dataclasses.dataclass
class Command:
    """A command of a file, and the output that is expected; None: whatever it is."""
    text: str
    at: int
    quote: list
    numbers: bool = False
    fails: bool = False


class Mismatch(Exception):
    """What differs: `line` of the file, and a text of several lines."""

    def __init__(self, line, text):
        super().__init__(text)
        self.line = line


def squeeze(text):
    """`text` with single blanks."""
    return " ".join(text.split())


def read_quote(lines, begin, end):
    """The expected lines among the physical lines [begin, end), wrapped ones joined."""
    quote = []
    indent = 0
    for i in range(begin, end):
        blanks = len(lines[i]) - len(lines[i].lstrip())
        if quote and lines[i].strip() and blanks == indent + WRAPPED:
            quote[-1] = Line(quote[-1].text + " " + squeeze(lines[i]), quote[-1].begin, i + 1)
            continue
        quote.append(Line(squeeze(lines[i]), i, i + 1))
        indent = blanks
    while quote and not quote[-1].text:
        quote.pop()
    return quote


def read_block(lines, begin, end, modes):
    """The commands of a block whose lines are [begin, end)."""
    starts = [i for i in range(begin, end) if lines[i].startswith("$ ")]
    if not starts or starts[0] != begin:
        raise Mismatch(begin, "expected a block that begins with `$ command`")
    commands = []
    for start, stop in zip(starts, starts[1:] + [end]):
        at, text = start, lines[start][2:]
        while text.endswith("\\") and start + 1 < stop:
            start += 1
            text = text[:-1] + lines[start].lstrip()
        quote = read_quote(lines, start + 1, stop)
        commands.append(Command(text, at, quote, "numbers" in modes, "fails" in modes and stop == end))
    return commands


def read_file(lines):
    """The commands of a Markdown file, in order."""
    commands = []
    i = 0
    while i < len(lines):
        setup = re.fullmatch(r"<!-- setup: (.*) -->", lines[i].strip())
        if setup:
            commands.append(Command(setup[1], i, None))
        fence = re.fullmatch(r"```(.*)", lines[i].strip())
        if fence:
            end = next((j for j in range(i + 1, len(lines)) if lines[j].strip() == "```"), None)
            if end is None:
                raise Mismatch(i, "expected a ``` that ends the block, got the end of the file")
            words = fence[1].split()
            if words[:2] == ["console", "check"]:
                unknown = set(words[2:]) - {"numbers", "fails"}
                if unknown:
                    raise Mismatch(i, f"expected numbers or fails, got {' '.join(sorted(unknown))}")
                commands += read_block(lines, i + 1, end, words[2:])
            i = end
        i += 1
    return commands


def pattern_of(text, numbers):
    """A pattern for one line; each of its numbers is a group if `numbers`."""
    parts = []
    for piece in text.split("..."):
        piece = re.escape(piece.strip()).replace("\\ ", r"\s+")
        parts.append(re.sub(r"\d+", r"(\\d+)", piece) if numbers else piece)
    return re.compile(r"\s*" + r"\s*.*?\s*".join(parts) + r"\s*")


def nearest(text, printed):
    """The printed line that shares most words with `text`."""
    words = set(re.findall(r"[\w.#/]+", text))
    return max(printed, key=lambda line: len(words & set(re.findall(r"[\w.#/]+", line))), default="")


def equal_numbers(text, found):
    """How many numbers of the expected line are those that were printed."""
    return sum(a == b for a, b in zip(re.findall(r"\d+", text), found.groups()))


def match(quote, printed, numbers):
    """Pairs (expected line, match of what was printed). Of all ways to lay the expected lines over the printed ones, the one
    in which most numbers are equal; raises Mismatch at the first expected line that no way reaches."""
    lines = [line for line in quote if line.text != "..."]
    patterns = [pattern_of(line.text, numbers) for line in lines]
    after_dots = {i - n for n, i in enumerate(k for k, line in enumerate(quote) if line.text == "...")}
    ways = [{0: (0, ())}]  # for each number of expected lines: {printed lines read: (equal numbers, matches)}
    for i, (line, pattern) in enumerate(zip(lines, patterns)):
        found = {}
        for at, (score, matches) in ways[-1].items():
            for k in range(at, len(printed) if i in after_dots else min(at + 1, len(printed))):
                fit = pattern.fullmatch(printed[k])
                way = fit and (score + equal_numbers(line.text, fit), (*matches, fit))
                if way and (k + 1 not in found or way[0] > found[k + 1][0]):
                    found[k + 1] = way
        if not found:
            at = min(ways[-1])
            anywhere = i in after_dots
            near = nearest(line.text, printed[at:] if anywhere else [printed[k] for k in ways[-1] if k < len(printed)])
            raise Mismatch(line.begin, f"expected: {line.text}\n  {'nearest' if anywhere else 'printed'}: {near or 'nothing more'}")
        ways.append(found)
    ends = ways[-1] if len(lines) in after_dots else {k: way for k, way in ways[-1].items() if k == len(printed)}
    if not ends:
        raise Mismatch(quote[-1].begin if quote else 0, f"expected the end of the output\n  printed: {printed[max(ways[-1])]}")
    return list(zip(lines, max(ends.values(), key=lambda way: way[0])[1]))


def with_numbers(lines, line, found):
    """Writes the printed numbers into the physical lines of an expected one."""
    values = iter(found.groups())
    for i in range(line.begin, line.end):
        lines[i] = re.sub(r"\d+", lambda _: next(values), lines[i])


class Runner:
    """Runs commands in a working folder that looks like the root."""

    def __init__(self, root, programs, folder):
        self.folder = pathlib.Path(folder) / "tree"
        binaries = pathlib.Path(folder) / "bin"
        binaries.mkdir()
        for program in programs:
            shutil.copy(program, binaries)
        (self.folder / "out").mkdir(parents=True)
        for entry in pathlib.Path(root).iterdir():
            if entry.name not in ("out", ".git") and not entry.name.startswith("bazel-"):
                (self.folder / entry.name).symlink_to(entry.resolve())
        self.environment = dict(os.environ, PATH=f"{binaries}:{os.environ['PATH']}", LC_ALL="C")

    def run(self, command):
        """The lines that a command prints; Mismatch if it does not end as expected."""
        done = subprocess.run(["bash", "-c", command.text],
                              cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=SECONDS, check=False)
        printed = [squeeze(line) for line in done.stdout.splitlines()]
        if (done.returncode != 0) != command.fails:
            end = "\n".join(printed[-10:])
            raise Mismatch(command.at, f"{command.text}: ended with status {done.returncode}\n{end}")
        return printed


def check_file(path, runner, update):
    """Runs a file's commands; returns the texts of what differs."""
    lines = path.read_text().splitlines()
    problems = []
    changed = False
    try:
        for command in read_file(lines):
            try:
                printed = runner.run(command)
                if command.quote is None:
                    continue
                try:
                    match(command.quote, printed, command.numbers)
                except Mismatch:
                    if not update:
                        raise
                    for line, found in match(command.quote, printed, True):
                        with_numbers(lines, line, found)
                    changed = True
            except Mismatch as problem:
                problems.append(f"{path}:{problem.line + 1}: {problem}")
    except Mismatch as problem:
        problems.append(f"{path}:{problem.line + 1}: {problem}")
    if changed:
        path.write_text("\n".join(lines) + "\n")
    return problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent.parent)
    parser.add_argument("--programs", nargs="+", type=pathlib.Path)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    programs = arguments.programs or sorted((arguments.root / "out/bin").glob("*"))
    problems = []
    for path in arguments.files:
        with tempfile.TemporaryDirectory() as folder:
            problems += check_file(path, Runner(arguments.root, programs, folder), arguments.update)
    for problem in problems:
        print(problem)
    if problems:
        print("if the text is right and only numbers have changed: docs/tour/transcripts.py --update FILE.md")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
