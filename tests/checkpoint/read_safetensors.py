#!/usr/bin/env python3
"""A safetensors reader that shares nothing with Weft.

Written from the published description of the format (README of
github.com/huggingface/safetensors, section "Format"), with the standard library
alone. As a program it lists a file: read_safetensors.py FILE.
"""
import json
import struct
import sys

# Bytes of an element, and how struct reads it; bfloat16 is the upper half of a float32.
TYPES = {
    "F64": (8, "d"), "F32": (4, "f"), "F16": (2, "e"), "BF16": (2, None),
    "I64": (8, "q"), "I32": (4, "i"), "I16": (2, "h"), "I8": (1, "b"),
    "U64": (8, "Q"), "U32": (4, "I"), "U16": (2, "H"), "U8": (1, "B"), "BOOL": (1, "?"),
}


class Tensor:
    """One tensor: dtype, shape and its values in row-major order."""

    def __init__(self, dtype, shape, data):
        self.dtype, self.shape = dtype, shape
        if dtype == "BF16":
            halves = struct.unpack(f"<{len(data) // 2}H", data)
            data = struct.pack(f"<{len(halves)}I", *(half << 16 for half in halves))
            self.values = struct.unpack(f"<{len(halves)}f", data)
        else:
            size, code = TYPES[dtype]
            self.values = struct.unpack(f"<{len(data) // size}{code}", data)


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError(f"duplicate keys: {keys}")
    return dict(pairs)


def read(path):
    """(tensors by name, metadata) of a file; ValueError if it is not as the format says."""
    with open(path, "rb") as file:
        content = file.read()
    (length,) = struct.unpack_from("<Q", content)
    if length > 100_000_000 or 8 + length > len(content):
        raise ValueError(f"header of {length} bytes in a file of {len(content)}")
    text, data = content[8:8 + length], content[8 + length:]
    if not text.startswith(b"{"):
        raise ValueError("the header does not begin with {")
    header = json.loads(text.decode("utf-8"), object_pairs_hook=no_duplicates)
    metadata = header.pop("__metadata__", {})
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ValueError("metadata that is not text")
    tensors, end = {}, 0
    for name, info in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, stop = info["data_offsets"]
        size = TYPES[info["dtype"]][0]
        count = 1
        for dim in info["shape"]:
            count *= dim
        if begin != end or stop - begin != count * size:
            raise ValueError(f"{name}: bytes {begin} to {stop} after {end} for {count} elements of {size}")
        if (8 + length + begin) % size:
            raise ValueError(f"{name}: not aligned")
        tensors[name] = Tensor(info["dtype"], info["shape"], data[begin:stop])
        end = stop
    if end != len(data):
        raise ValueError(f"{end} bytes of tensors in {len(data)} bytes of data")
    return tensors, metadata


if __name__ == "__main__":
    for name, tensor in sorted(read(sys.argv[1])[0].items()):
        print(name, tensor.dtype, tensor.shape)
