"""Plans: what `weft compile` makes and `weft plan` looks at."""
from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from typing import Any, Dict, Iterator, List, Mapping, Optional, Union

from .programs import call

Path = Union[str, "os.PathLike[str]"]


class Plan:
    """A plan in a file. What its methods return is the JSON of `weft plan METHOD --json`, as dictionaries and lists."""

    def __init__(self, path: Path) -> None:
        self.path = os.fspath(path)
        if not os.path.isfile(self.path):
            raise FileNotFoundError("%s: expected a plan, found none" % self.path)

    def __repr__(self) -> str:
        return "weft.Plan(%r)" % self.path

    def show(self, kernels: bool = False) -> Dict[str, Any]:
        """What runs where: streams, actors and their order, collectives, memory, parameters; also every kernel."""
        return self._ask("show", *(["--kernels"] if kernels else []))

    def verify(self, device_memory: Optional[str] = None) -> Dict[str, Any]:
        """Proves that the plan ends, reads nothing that is not there, and fits, on devices of `device_memory` ("80GiB").
        Raises RequestError if it does not."""
        return self._ask("verify", *(["--device-memory=" + device_memory] if device_memory else []))

    def memory(self) -> Dict[str, Any]:
        """Bytes by category, beside what no plan can go below."""
        return self._ask("memory")

    def simulate(self, unit_times: bool = False, **cluster: Any) -> Dict[str, Any]:
        """A step in virtual time. Keys of the cluster ask what if: simulate(node={"link_bytes_s": "2x"})."""
        return self._ask("simulate", *_cluster_keys(cluster), *(["--unit-times"] if unit_times else []))

    def explain(self, name: Optional[str] = None, trace: Optional[Path] = None, **cluster: Any) -> Dict[str, Any]:
        """Where the seconds of a step go, what takes the memory, why the layout was chosen; `name` is an actor, a buffer or a
        layer; `trace` is the file of a run's trace, with its kernels."""
        named = [] if name is None else [name]
        return self._ask("explain", *named, *_cluster_keys(cluster), *(["--with=" + os.fspath(trace)] if trace else []))

    def report(self, trace: Optional[Path] = None, **cluster: Any) -> Dict[str, Any]:
        """All that the page of `weft plan report` shows."""
        return self._ask("report", *_cluster_keys(cluster), *(["--trace=" + os.fspath(trace)] if trace else []))

    def sharding(self, name: str) -> Dict[str, Any]:
        """Which rank holds which part of a tensor: a parameter, or another buffer of the plan."""
        return self._ask("sharding", name)

    def job(self) -> str:
        """The resolved job, as a job file."""
        return call(["plan", "job", self.path])

    def save(self, path: Path) -> "Plan":
        """Copies the plan to `path`."""
        part = os.fspath(path) + ".part"
        shutil.copyfile(self.path, part)
        os.replace(part, path)
        return Plan(path)

    def _ask(self, *arguments: str) -> Dict[str, Any]:
        said: Dict[str, Any] = json.loads(call(["plan", arguments[0], self.path, *arguments[1:], "--json"]))
        return said


def compile(job: Any, output: Optional[Path] = None, set: Optional[Mapping[str, Any]] = None, **overrides: Any) -> Plan:
    """Compiles a job into a plan.

    `job` is the path of a job file, or what `from_torch` or `from_onnx` returns. Overrides are the keys of a job:
    compile("tiny.job", dist={"data": 2, "tensor": 2}, batch={"micro": 4}). Paths in them are seen from the job's folder.
    `set` are the model's numbers: {"layers": 24}. The plan is written to `output`; else it lies in a temporary folder as
    long as the Plan lives. Raises RequestError with what weft-compile said."""
    folder = tempfile.mkdtemp(prefix="weft-")
    try:
        if hasattr(job, "save"):
            path = os.path.join(folder, "module.job")
            job.save(path)
        else:
            path = os.fspath(job)
        target = os.path.join(folder, "a.plan") if output is None else os.fspath(output)
        arguments = ["compile", path, *keys(overrides)]
        for name, value in (set or {}).items():
            arguments += ["--set", "%s=%s" % (name, _text(value))]
        call([*arguments, "-o", target, "--quiet"])
        plan = Plan(target)
    except BaseException:
        shutil.rmtree(folder)
        raise
    if output is None:
        weakref.finalize(plan, shutil.rmtree, folder)
    else:
        shutil.rmtree(folder)
    return plan


def keys(overrides: Mapping[str, Any], prefix: str = "") -> List[str]:
    """Nested overrides as the programs take them: {"dist": {"data": 2}} is ["dist.data=2"]."""
    return list(_keys(overrides, prefix))


def _keys(overrides: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for key, value in overrides.items():
        if isinstance(value, Mapping):
            yield from _keys(value, prefix + key + ".")
        elif isinstance(value, (list, tuple)):
            for one in value:
                yield "%s%s=%s" % (prefix, key, _text(one))
        else:
            yield "%s%s=%s" % (prefix, key, _text(value))


def _cluster_keys(cluster: Mapping[str, Any]) -> List[str]:
    return keys(cluster, "cluster.")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
