"""Checkpoints as NumPy arrays."""
from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, Iterator, Mapping, Union

# What safetensors calls them, and NumPy. NumPy has no bfloat16: it is read as float32, which loses nothing.
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"}
_LARGEST_HEADER = 1 << 30


class Tensors(Mapping[str, Any]):
    """The tensors of a safetensors file by name, each read when it is asked for."""

    def __init__(self, path: str) -> None:
        self._path = path
        with open(path, "rb") as file:
            beginning = file.read(8)
            length = struct.unpack("<Q", beginning)[0] if len(beginning) == 8 else _LARGEST_HEADER
            if length >= _LARGEST_HEADER:
                raise ValueError("%s: expected a safetensors file, found another" % path)
            header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        self._begin = 8 + length
        self._entries: Dict[str, Dict[str, Any]] = header
        size, end = os.path.getsize(path), max((entry["data_offsets"][1] for entry in header.values()), default=0)
        if size != self._begin + end:
            raise ValueError("%s: expected %d bytes, found %d" % (path, self._begin + end, size))

    def __getitem__(self, name: str) -> Any:
        import numpy
        entry = self._entries[name]
        begin, end = entry["data_offsets"]
        kind = numpy.dtype(_TYPES[entry["dtype"]])
        with open(self._path, "rb") as file:
            file.seek(self._begin + begin)
            array = numpy.fromfile(file, kind, (end - begin) // kind.itemsize)
        if entry["dtype"] == "BF16":
            array = (array.astype(numpy.uint32) << 16).view(numpy.float32)
        return array.reshape(entry["shape"])

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


class Checkpoint(Mapping[str, Any]):
    """Parameters and state of the model by name, as arrays. `optimizer` has the optimizer's state, `step` the steps that
    were done, `seed` the run's, `run` what the run said of itself, and `path` the folder or file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.step, self.seed, self.run = 0, 0, {}  # type: int, int, Dict[str, str]
        self.optimizer: Mapping[str, Any] = {}
        if os.path.isfile(path):
            self._tensors: Mapping[str, Any] = Tensors(path)
            return
        with open(os.path.join(path, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        if manifest.get("format") != "weft-checkpoint":
            raise ValueError("%s/manifest.json: expected a checkpoint of Weft, found another file" % path)
        self.step, self.seed, self.run = manifest["step"], manifest["seed"], manifest.get("run", {})
        self._tensors = Tensors(os.path.join(path, "model.safetensors"))
        if "optimizer.safetensors" in manifest["files"]:
            self.optimizer = Tensors(os.path.join(path, "optimizer.safetensors"))

    def __getitem__(self, name: str) -> Any:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)

    def __repr__(self) -> str:
        return "weft.Checkpoint(%r, step %d, %d tensors)" % (self.path, self.step, len(self))


def load(checkpoint: "Union[str, os.PathLike[str]]") -> Checkpoint:
    """A checkpoint: its folder, the newest of a --checkpoint-dir, or any safetensors file. Arrays are read when they are
    asked for: load("runs")["wte.weight"]. Sizes are looked at, checksums are not: `weft export` and `weft run` do that."""
    path = os.fspath(checkpoint)
    marker = os.path.join(path, "latest")
    if os.path.isfile(marker):
        with open(marker, encoding="utf-8") as file:
            path = os.path.join(path, file.read().strip())
    elif not os.path.isfile(path) and not os.path.isfile(os.path.join(path, "manifest.json")):
        raise FileNotFoundError("%s: expected a checkpoint, found none" % path)
    return Checkpoint(path)
