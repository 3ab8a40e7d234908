"""What NVIDIA's assembler says of generated kernels, and how many of their threads a multiprocessor has at a time."""

import os
import re
import shutil
import subprocess

from programs import fail

# Model, its folder and job, and keys.
MODELS = [("GPT-2 124M, dropout", "gpt2", "124m", ["model.set=dropout=0.1"]),
          ("GPT-2 1.5B on data 8 x tensor 8", "gpt2", "1.5b", ["dist.data=8", "dist.tensor=8"]),
          ("Llama 8B on data 8 x tensor 8", "llama", "8b", ["dist.data=8", "dist.tensor=8"]),
          ("Mixtral tiny", "mixtral", "tiny", []), ("ConvNeXt tiny", "convnext", "tiny", [])]
QUICK = 1
# Bytes of shared memory of a multiprocessor (CUDA C++ programming guide, technical specifications by compute
# capability); all have 65,536 registers, given to a warp in units of 256, and 2048 threads; 1 KiB of a block is the system's.
SHARED = {"sm_80": 164 << 10, "sm_90": 228 << 10, "sm_100": 228 << 10}
REGISTERS, UNIT, THREADS, WARP, BLOCK, RESERVED = 65536, 256, 2048, 32, 256, 1024
LOW = 0.5  # of occupancy: kernels below that are listed


def assembler():
    return shutil.which("ptxas") or shutil.which("/usr/local/cuda/bin/ptxas")


def occupancy(registers, shared, generation):
    """Threads that a multiprocessor has at a time, of those that it may have."""
    of_warp = -(-registers * WARP // UNIT) * UNIT
    by_registers = REGISTERS // of_warp // (BLOCK // WARP)
    by_shared = SHARED[generation] // (shared + RESERVED)
    return min(by_registers, by_shared, THREADS // BLOCK) * BLOCK / THREADS


def assembled(program, path, generation):
    """By kernel: registers, bytes of shared memory, bytes of local memory and spills."""
    done = subprocess.run([program, "-v", "-arch=" + generation, "-o", os.devnull, path], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        fail("%s: %s" % (program, done.stdout))
    kernels = {}
    for part in done.stdout.split("Compiling entry function '")[1:]:
        local = sum(map(int, re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", part).groups()))
        shared = re.search(r"(\d+) bytes smem", part)
        kernels[part.split("'", 1)[0]] = (int(re.search(r"Used (\d+) registers", part).group(1)),
                                          int(shared.group(1)) if shared else 0, local)
    return kernels


def registers(tools, quick):
    print("Registers, shared memory and occupancy of generated kernels, blocks of %d threads, bfloat16" % BLOCK)
    program = assembler()
    if program is None:
        print("  no ptxas: nothing was assembled")
        return
    for label, model, job, keys in MODELS[:QUICK] if quick else MODELS:
        plan, text = tools.path("registers.plan"), tools.path("registers.ptx")
        tools.run("weft-compile", tools.job(job, model), *keys, "precision.compute=BF16",
                  "cluster=" + tools.cluster("8xh200"), "-o", plan, "--quiet")
        tools.run("weft-plan", "code", plan, "--object", "-o", text)
        for generation in SHARED:
            kernels = assembled(program, text, generation)
            shares = {name: occupancy(used, shared, generation) for name, (used, shared, _) in kernels.items()}
            print("  %-34s %-7s %3d kernels  registers at most %3d  shared at most %5d B  local and spilled %d B  occupancy %3.0f to %3.0f %%" %
                  (label, generation, len(kernels), max(it[0] for it in kernels.values()),
                   max(it[1] for it in kernels.values()), sum(it[2] for it in kernels.values()),
                   100 * min(shares.values()), 100 * max(shares.values())), flush=True)
            for name, share in sorted(shares.items(), key=lambda pair: pair[1]):
                if share < LOW:
                    print("    %-60s %3d registers %6d B shared  occupancy %3.0f %%" % (name, *kernels[name][:2], 100 * share))
