"""Runs of plans: `weft run`, whose metrics come as they are made."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from typing import Any, Dict, IO, Iterator, List, Optional, Union

from .plan import Path, Plan
from .programs import command, fail

Metrics = Dict[str, Any]

_POLL_S = 0.02


class Run:
    """A run that goes on while its metrics are read: an iterator of dictionaries, one a step, with the keys of `weft run
    --metrics`. `about` is what the run says of itself: version, plan, job, data, host and date; empty before the first
    step."""

    def __init__(self, arguments: List[str], metrics: str, folder: "Optional[tempfile.TemporaryDirectory[str]]") -> None:
        self.about: Metrics = {}
        self._folder, self._path = folder, metrics
        self._earlier = _identity(metrics)  # of a file that the run replaces
        self._file: Optional[IO[str]] = None
        self._rest = ""
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(command(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=self._errors)
        self._lines = self._read()

    def __iter__(self) -> Iterator[Metrics]:
        return self

    def __next__(self) -> Metrics:
        return next(self._lines)

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

    def __del__(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None and process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def wait(self) -> Metrics:
        """Runs to the end; the last step's metrics."""
        last: Metrics = {}
        for last in self:
            pass
        return last

    def stop(self) -> None:
        """Ends the run after its step, with a checkpoint if it has a place for one."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        for _ in self:
            pass

    def _read(self) -> Iterator[Metrics]:
        while True:
            ended = self._process.poll() is not None  # before the last look
            for line in self._new_lines():
                if "run" in line:
                    self.about = line["run"]
                elif "step" in line or "samples" in line:  # else it happened between steps
                    yield line
            if ended:
                break
            time.sleep(_POLL_S)
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace")
        self._close()
        if self._process.returncode != 0:
            fail(said, self._process.returncode)

    def _new_lines(self) -> List[Metrics]:
        first = self._file is None
        if first:
            if _identity(self._path) in (None, self._earlier):
                return []
            self._file = open(self._path, encoding="utf-8")
        assert self._file is not None
        whole, newline, self._rest = (self._rest + self._file.read()).rpartition("\n")
        lines = [json.loads(line) for line in whole.split("\n")] if newline else []
        if first:  # what a run that goes on has kept of earlier ones
            own = [i for i, line in enumerate(lines) if "run" in line]
            lines = lines[own[-1]:] if own else lines
        return lines

    def _close(self) -> None:
        self._errors.close()
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            self._folder.cleanup()


def run(plan: Union[Plan, Path], data: Optional[Path] = None, processes: Optional[int] = None,
        metrics: Optional[Path] = None, **flags: Any) -> Run:
    """Starts a plan, and gives its metrics as they come: for step in run(plan, data="corpus.txt", steps=200): ...

    Flags are those of `weft run --help`: checkpoint_dir="runs" is --checkpoint-dir runs, resume=True is --resume.
    `processes` starts so many under mpirun. `metrics` keeps the metrics in a file too. A plan that evaluates gives one
    dictionary. While nobody reads, the run goes on. Raises, where metrics are read, what weft-run said: RequestError or
    WorkError."""
    folder = None
    if metrics is None:
        folder = tempfile.TemporaryDirectory(prefix="weft-")
        metrics = os.path.join(folder.name, "metrics.jsonl")
    launch = ["run"] if processes is None else ["launch", "-n", str(processes), "--"]
    arguments = [*launch, plan.path if isinstance(plan, Plan) else os.fspath(plan), "--quiet",
                 "--metrics", os.fspath(metrics)]
    for name, value in {"data": data, **flags}.items():
        arguments += _flag("--" + name.replace("_", "-"), value)
    return Run(arguments, os.fspath(metrics), folder)


def _flag(name: str, value: Any) -> List[str]:
    if name in ("--cuda-graphs", "--checkpoint-async") and isinstance(value, bool):
        return [name, "on" if value else "off"]
    if value is None or value is False:
        return []
    if value is True:
        return [name]
    if isinstance(value, (list, tuple)):
        return [word for one in value for word in (name, str(one))]
    return [name, os.fspath(value) if isinstance(value, os.PathLike) else str(value)]


def _identity(path: str) -> Any:
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return None
    return there.st_dev, there.st_ino, there.st_ctime_ns
