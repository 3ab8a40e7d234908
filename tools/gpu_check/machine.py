"""The machine that a pack runs on, and the pack's programs on it."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sysconfig
import time

# What weft-run says of that which is not done as it should be.
NOTES = re.compile(r"by our own kernel|not by cuBLASLt|is not replayed|^CUDA graphs: 0 |is ignored")


class OutOfTime(Exception):
    """What --limit allows is spent."""


class CheckFailed(Exception):
    """What went wrong, in one line, and what was said."""

    def __init__(self, what, said=""):
        super().__init__(what)
        self.said = said

    def does_not_fit(self):
        """Whether the GPU has too little memory for it."""
        return bool(re.search("expected at most the|OUT_OF_MEMORY|out of memory", self.said))


class Pack:
    """The folder, a folder for what programs write, and how they are called. A program that takes longer than `limit_s`
    hangs, or should not be run here; none may go on behind `end`, a time of the monotonic clock."""

    def __init__(self, folder, work, libraries="", quick=False, limit_s=1800, end=None, brief=False, kept=None,
                 alone=False):
        self.folder, self.work, self.libraries, self.quick, self.limit_s = folder, work, libraries, quick, limit_s
        self.end, self.brief, self.kept, self.alone = end, brief, kept, alone
        self.known = {}  # what one check leaves to the next
        self.notes = []  # of the check that runs, each once
        with open(self.path("manifest.json"), encoding="utf-8") as file:
            self.manifest = json.load(file)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def keep(self, name, content):
        """Writes the bytes to a file of that name, gzipped, where --keep asks for it."""
        if self.kept is not None:
            os.makedirs(self.kept, exist_ok=True)
            with gzip.open(os.path.join(self.kept, name + ".gz"), "wb") as file:
                file.write(content)

    def plan(self, name):
        return self.path("plans", name + ".plan")

    def scratch(self, name):
        return os.path.join(self.work, name)

    def environment(self, **more):
        environment = dict(os.environ, **more)
        own = [environment["LD_LIBRARY_PATH"]] if environment.get("LD_LIBRARY_PATH") else []
        environment["LD_LIBRARY_PATH"] = ":".join(own + [self.path("lib")])
        return environment

    def flags(self):
        return ["--cuda-libs", self.libraries] if self.libraries else []

    def call(self, command, limit_s=None, **environment):
        """(status, stdout, stderr); None for the status of a program that does not end."""
        limit_s = limit_s or self.limit_s
        left_s = limit_s if self.end is None else self.end - time.monotonic()
        if left_s <= 0:
            raise OutOfTime()
        own, limit_s = limit_s, min(limit_s, left_s)
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit_s, cwd=self.work,
                                  env=self.environment(**environment))
        except subprocess.TimeoutExpired as late:
            if limit_s < own:
                raise OutOfTime() from late
            return None, "", "%s\nnot done after %d s" % ((late.stderr or b"").decode("utf-8", "replace"), limit_s)
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def run(self, program, *arguments, **environment):
        """What the program prints; CheckFailed if it fails."""
        status, out, err = self.call([self.path("bin", program), *map(str, arguments)], **environment)
        if status != 0:
            raise CheckFailed("%s: exit status %s: %s" % (program, status, last_line(err) or last_line(out)), out + err)
        self.notes += [line for line in dict.fromkeys(err.splitlines()) if NOTES.search(line) and line not in self.notes]
        return out

    def train(self, plan, steps, data, *flags, cuda=True, **environment):
        """The metrics of every step."""
        name = self.scratch("metrics.jsonl")
        if os.path.exists(name):
            os.remove(name)
        gpu = [*self.flags(), "--algorithm-cache", self.scratch("algorithms")] if cuda else []
        self.run("weft-run", self.plan(plan), "--data", data, "--steps", steps, "--metrics", name, *gpu, *flags,
                 **environment)
        with open(name, encoding="utf-8") as lines:
            return [line for line in map(json.loads, lines) if "step" in line]


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def find_tool(name):
    """The path of a CUDA tool, where toolkits put it; None if there is none."""
    folders = ["/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/nvidia/compute-sanitizer"]
    return shutil.which(name) or next((os.path.join(folder, name) for folder in folders
                                       if os.access(os.path.join(folder, name), os.X_OK)), None)


def describe(pack):
    """{driver, gpus, found, driver_version}; `driver` is None where weft-run finds none. Without --cuda-libs, libraries that
    weft-run does not find are looked for in this Python's packages."""
    found = pack.run("weft-run", "--devices", *pack.flags())
    if re.search("^(cuBLASLt|cuDNN): found no", found, re.M) and not pack.libraries:
        pack.libraries = sysconfig.get_path("purelib")
        found = pack.run("weft-run", "--devices", *pack.flags())
    driver = re.search(r"^CUDA driver (\S+), (\d+) GPU", found, re.M)
    gpus = re.findall(r"^  \d+: (.*?), compute capability", found, re.M)
    version = None
    smi = find_tool("nvidia-smi")
    if smi:
        status, out, _ = pack.call([smi, "--query-gpu=driver_version", "--format=csv,noheader"], limit_s=60)
        version = last_line(out) if status == 0 else None
    return {"driver": driver.group(1) if driver and gpus else None, "gpus": gpus, "found": found.splitlines(),
            "driver_version": version}
