"""Makes a pack of built programs: the folder that tools/gpu_check/pack describes. See there."""

import argparse
import datetime
import gzip
import json
import os
import shutil
import subprocess
import sys
import tarfile

from plans import SPEED, all_plans

LIMIT = 60 << 20
PROGRAMS = ["weft-run", "weft-gpu-kernels", "gpu_matrix"]
SCRIPTS = ["tools/gpu_check/gpu_check.py", "tools/gpu_check/checks.py", "tools/gpu_check/machine.py",
           "tools/gpu_check/speed.py", "tools/bench/kernel_table.py", "tools/bench/peers/torch_gpt2.py"]
DATA = ["tests/oracle/tokens.bin", "tests/oracle/tiny.safetensors", "tests/oracle/tiny_losses_f64.txt",
        "tests/oracle/tiny_losses_llmc_f32.txt"]
LAUNCHER = '#!/bin/sh\nexec python3 -B "$(dirname "$0")/gpu_check.py" "$@"\n'


def fail(message):
    sys.exit("pack: " + message)


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        fail("%s failed:\n%s" % (" ".join(command), done.stderr))
    return done.stdout


def planned(stages):
    """Bytes of all ranks."""
    return sum(stage["memory"]["arena_bytes"] * len(stage["placement"]["ranks"]) for stage in stages)


def compile_plans(arguments, out):
    """{name: what is known of the plan without reading it}."""
    known = {}
    for name, (job, overrides) in all_plans().items():
        path = os.path.join(out, "plans", name + ".plan")
        overrides = [it.replace("{root}", os.path.abspath(arguments.root)) for it in overrides]
        run(arguments.bin + "/weft-compile", os.path.join(arguments.root, job), *overrides, "-o", path, "--quiet")
        shown = json.loads(run(arguments.bin + "/weft-plan", "show", path, "--json"))
        known[name] = {"planned_bytes": planned(shown["stages"]), "flops_per_step": float(shown["header"]["flops_per_step"]),
                       "tokens_per_step": int(shown["header"]["tokens_per_step"]),
                       "predicted_s": shown["prediction"]["step_s"]}
    return known


def copy(source, target, mode):
    shutil.copyfile(source, target)
    os.chmod(target, mode)


def size_of(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def make(arguments):
    out = arguments.out
    shutil.rmtree(out, ignore_errors=True)
    for folder in ("bin", "lib", "plans", "data"):
        os.makedirs(os.path.join(out, folder))
    for name in PROGRAMS:
        copy(os.path.join(arguments.bin, name), os.path.join(out, "bin", name), 0o755)
    copy(os.path.join(arguments.bin, "libweft-activity.so"), os.path.join(out, "lib", "libweft-activity.so"), 0o644)
    for path in SCRIPTS:
        copy(os.path.join(arguments.root, path), os.path.join(out, os.path.basename(path)), 0o644)
    for path in DATA:
        copy(os.path.join(arguments.root, path), os.path.join(out, "data", os.path.basename(path)), 0o644)
    with open(arguments.text, "rb") as text, gzip.GzipFile(os.path.join(out, "data", "text.gz"), "wb", mtime=0) as packed:
        shutil.copyfileobj(text, packed)
    with open(os.path.join(out, "gpu_check"), "w") as launcher:
        launcher.write(LAUNCHER)
    os.chmod(os.path.join(out, "gpu_check"), 0o755)
    manifest = {"version": arguments.version, "packed": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
                "plans": compile_plans(arguments, out), "speed": {model: sizes for model, (_, _, _, sizes) in SPEED.items()}}
    with open(os.path.join(out, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
    with tarfile.open(out + ".tar.gz", "w:gz") as archive:
        archive.add(out, arcname=os.path.basename(out))
    return size_of(out), os.path.getsize(out + ".tar.gz")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", required=True, help="folder with the built programs")
    parser.add_argument("--root", required=True, help="folder of the checkout")
    parser.add_argument("--text", required=True, help="text to train on")
    parser.add_argument("--version", default="unknown", help="of the checkout")
    parser.add_argument("--out", required=True, help="the folder to make; a .tar.gz is put beside it")
    arguments = parser.parse_args()
    folder, archive = make(arguments)
    print("%s: %.1f MiB, %.1f MiB as %s.tar.gz" % (arguments.out, folder / 2**20, archive / 2**20,
                                                   os.path.basename(arguments.out)))
    if archive > LIMIT:
        fail("expected an archive of at most %d MiB, got %.1f MiB" % (LIMIT >> 20, archive / 2**20))


if __name__ == "__main__":
    main()
