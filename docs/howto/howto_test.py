"""Runs a how-to: howto_test.py PAGE.md SCRIPT... --programs PROGRAM...

Fenced blocks of the page with a mark behind the language do something, in order, in one folder that holds copies of
models/ and of the scripts, at their places:
  file=PATH   becomes that file
  run         is run by bash and must succeed
  fails=N     is run and must exit with N
  output      each of its lines must occur in what the last command printed
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```\w+ (?P<mark>file=\S+|run|fails=\d+|output)\n(?P<text>.*?)^```$", re.M | re.S)


class Reader:
    """Does what a page says, in `folder`, with the programs of `path`."""

    def __init__(self, folder, path):
        self._folder, self._path = folder, path
        self._printed = ""
        self.failures = []

    def read(self, page):
        for block in FENCE.finditer(page):
            mark, text = block.group("mark"), block.group("text")
            if mark.startswith("file="):
                self._write(mark[len("file="):], text)
            elif mark == "output":
                self._expect(text)
            else:
                self._run(text, int(mark.partition("=")[2] or 0))

    def _write(self, path, text):
        path = os.path.join(self._folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def _run(self, commands, expected):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=self._folder, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dict(os.environ, PATH="%s:%s" % (self._path, os.environ["PATH"])))
        self._printed = done.stdout
        if done.returncode != expected:
            self.failures.append("%s: expected status %d, got %d\n%s" % (
                commands.strip(), expected, done.returncode, done.stdout))

    def _expect(self, text):
        printed = re.sub(r" +", " ", self._printed)
        for line in text.splitlines():
            if re.sub(r" +", " ", line.strip()) not in printed:
                self.failures.append("expected the line\n  %s\ngot\n%s" % (line, self._printed))


def main():
    mark = sys.argv.index("--programs")
    page, scripts, programs = sys.argv[1], sys.argv[2:mark], sys.argv[mark + 1:]
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    os.makedirs(os.path.join(folder, "bin"))
    for program in programs:
        os.symlink(os.path.realpath(program), os.path.join(folder, "bin", os.path.basename(program)))
    work = os.path.join(folder, "work")
    shutil.copytree("models", os.path.join(work, "models"))
    for script in scripts:
        os.makedirs(os.path.join(work, os.path.dirname(script)), exist_ok=True)
        shutil.copy(script, os.path.join(work, script))
    reader = Reader(work, os.path.join(folder, "bin"))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if not FENCE.search(text):
        return "%s: expected a block to run, found none" % page
    reader.read(text)
    return "\n".join(reader.failures) or 0


if __name__ == "__main__":
    sys.exit(main())
