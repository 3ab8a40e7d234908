"""What Weft saves opens in another reader: independent_reader_test.py WRITE_CHECKPOINT."""
import json
import os
import subprocess
import sys
import tempfile

from read_safetensors import read

MODEL = {
    "wte.weight": ("F32", [64, 16], 1),
    "h.0.attn.c_attn.weight": ("F32", [16, 48], 1),
    "h.0.attn.c_attn.bias": ("F32", [48], 1),
    "h.0.mlp.c_fc.weight": ("F32", [16, 64], 1),
    "half": ("BF16", [8, 4], 1),
}
OPTIMIZER = {"wte.weight.m": ("F32", [64, 16], 1), "count": ("I32", [4], 7)}


def expect(what, expected, got):
    if expected != got:
        sys.exit(f"{what}: expected {expected}, got {got}")


def check(path, expected, expected_metadata):
    tensors, metadata = read(path)
    expect(path + ": metadata", expected_metadata, metadata)
    expect(path + ": names", sorted(expected), sorted(tensors))
    for name, (dtype, shape, factor) in expected.items():
        tensor = tensors[name]
        expect(name, (dtype, shape), (tensor.dtype, tensor.shape))
        expect(name, [factor * i for i in range(len(tensor.values))], list(tensor.values))


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        subprocess.run([sys.argv[1], folder], check=True)
        expect("folder", ["latest", "step-00000040"], sorted(os.listdir(folder)))
        step = os.path.join(folder, "step-00000040")
        check(os.path.join(step, "model.safetensors"), MODEL, {"format": "pt"})
        check(os.path.join(step, "optimizer.safetensors"), OPTIMIZER, {})
        with open(os.path.join(step, "manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)
        expect("step and seed", (40, 1234), (manifest["step"], manifest["seed"]))
        for name, record in manifest["files"].items():
            expect(name, os.path.getsize(os.path.join(step, name)), record["bytes"])
        begin, end = manifest["files"]["model.safetensors"]["tensors"]["wte.weight"]["bytes"]
        expect("bytes of wte.weight", 64 * 16 * 4, end - begin)


if __name__ == "__main__":
    main()
