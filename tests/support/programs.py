"""Runs Weft's programs from outside, for tests in Python's standard library alone.

Scripts run in the runfiles, so that every path here is relative to the root of the project.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, "tests/checkpoint")
from read_safetensors import read as read_safetensors  # noqa: E402,F401

PROGRAMS = {
    "weft-compile": "tools/compile/weft-compile",
    "weft-run": "tools/run/weft-run",
    "weft-plan": "tools/plan/weft-plan",
    "weft-calibrate": "tools/calibrate/weft-calibrate",
    "weft-import": "tools/import/weft-import",
    "weft-export": "tools/export/weft-export",
    "weft-generate": "tools/generate/weft-generate",
    "weft-watch": "tools/watch/weft-watch",
    "weft-plan-compare": "tools/compare/weft-plan-compare",
    "weft": "tools/weft/weft",
}
JOB = "tests/oracle/tiny.job"
TOKENS = "tests/oracle/tokens.bin"
WEIGHTS = "tests/oracle/tiny.safetensors"
LIMIT_S = 600  # far above what any program here takes: only a hang reaches it


class Result:
    """What a program left: exit status and the text of both streams."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err


def command(program, *arguments):
    return [os.path.abspath(PROGRAMS[program]), *[str(argument) for argument in arguments]]


def call(program, *arguments, shell=None):
    """Runs a program; `shell` is text in front of it, such as `ulimit -f 64`."""
    line = command(program, *arguments)
    if shell is not None:
        line = ["/bin/bash", "-c", shell + '; exec "$@"', "bash", *line]
    done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S)
    return Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def corpus(sequences, length=64):
    """Text of so many whole sequences of the tokens (and the label of the last)."""
    with open(TOKENS, "rb") as file:
        raw = file.read()[1024:]
    tokens = struct.unpack(f"<{len(raw) // 2}H", raw)
    return bytes(tokens[:sequences * length + 1])


def write_safetensors(path, tensors):
    """Writes {name: (dtype, shape, bytes)}, as the format's description says."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def raw_safetensors(path):
    """{name: (dtype, shape, bytes)} of a file: for comparing and for writing again."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    header.pop("__metadata__", None)
    return {name: (info["dtype"], info["shape"], data[info["data_offsets"][0]:info["data_offsets"][1]])
            for name, info in header.items()}


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def metrics(path):
    """The lines of steps; beside them a file has one of each run that wrote it."""
    with open(path, encoding="utf-8") as file:
        return [line for line in map(json.loads, file) if "step" in line]


def losses(path):
    """The losses, after a look at the steps: from 1, each once."""
    lines = metrics(path)
    assert [line["step"] for line in lines] == list(range(1, len(lines) + 1)), [line["step"] for line in lines]
    return [line["loss"] for line in lines]


def saved_step(folder):
    """{file: content} of a checkpoint, for comparing: tensors bit for bit, the manifest without what no two runs share,
    when and where it was written (and the checksum over that)."""
    files = {file: contents(f"{folder}/{file}") for file in sorted(os.listdir(folder))}
    manifest = json.loads(files["manifest.json"])
    del manifest["checksum"], manifest["run"]["host"], manifest["run"]["date"]
    return {**files, "manifest.json": manifest}


def relative(a, b):
    return abs(a - b) / abs(b)


class ProgramTest(unittest.TestCase):
    """A folder of its own for every test, and plans that are compiled once a script."""

    plans = {}

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content if isinstance(content, (bytes, bytearray)) else content.encode())
        return self.path(name)

    def run_ok(self, program, *arguments):
        result = call(program, *arguments)
        self.assertEqual(result.status, 0, result.err)
        return result

    def plan(self, *overrides, job=JOB):
        """The path of the plan of a job."""
        key = (job, *overrides)
        if key not in self.plans:
            folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
            self.run_ok("weft-compile", job, *overrides, "-o", folder + "/a.plan", "--quiet")
            self.plans[key] = folder + "/a.plan"
        return self.plans[key]

    def train(self, plan, steps, *flags, data=TOKENS):
        return self.run_ok("weft-run", plan, "--data", data, "--steps", steps, "--threads", 1, "--quiet", *flags)


main = unittest.main
