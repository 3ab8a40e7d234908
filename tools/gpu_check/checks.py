"""What is checked. A check is a function of the Pack that returns (numbers for the table, details for the file) or raises
CheckFailed or Skipped. The numbers in the issue's words: "How it is shown to work (on a GPU)", 1 to 5."""

import gzip
import json
import os
import re
import shutil

import speed
from machine import CheckFailed, find_tool

ORACLE_BOUND = 1e-4  # of a loss
RANKS_BOUND = 2e-5  # of a loss, relative: sums of ranks in another order
CURVE_BOUND = 0.01  # of a loss, relative
CURVE_WINDOW = 10  # steps over whose mean curves are compared: a batch's own noise is in both
STEPS = 40  # of the oracle
SLOWEST = ["speed.1.5b"]  # behind all others


class Skipped(Exception):
    """Why a check could not be made here."""


def tokens(pack):
    return pack.path("data", "tokens.bin")


def weights(pack):
    return pack.path("data", "tiny.safetensors")


def text(pack):
    path = pack.scratch("text")
    if not os.path.exists(path):
        with gzip.open(pack.path("data", "text.gz")) as packed, open(path, "wb") as out:
            shutil.copyfileobj(packed, out)
    return path


def losses_of(metrics):
    return [step["loss"] for step in metrics]


def worst_of(got, expected, relative=True):
    """The largest difference of losses, and that they are as many."""
    if len(got) != len(expected) or not got:
        raise CheckFailed("expected %d losses, got %d" % (len(expected), len(got)))
    return max(abs(a - b) / (abs(b) if relative else 1) for a, b in zip(got, expected))


def within(what, worst, bound):
    if not worst <= bound:  # also for no number
        raise CheckFailed("%s: expected at most %.1e, got %.3e" % (what, bound, worst))


# --- on the CPU: that the pack is whole, also where there is no GPU -------------------------------------------------

def oracle(pack, plan, cuda):
    steps = 5 if pack.quick else STEPS
    losses = losses_of(pack.train(plan, steps, tokens(pack), "--init", weights(pack), cuda=cuda))
    details = {"losses": losses}
    for name in ("tiny_losses_f64", "tiny_losses_llmc_f32"):
        with open(pack.path("data", name + ".txt"), encoding="utf-8") as lines:
            reference = [float(line.split()[1]) for line in lines if line.strip() and line[0] != "#"][:steps]
        details[name] = worst_of(losses, reference, relative=False)
    worst = max(details["tiny_losses_f64"], details["tiny_losses_llmc_f32"])
    within("losses beside llm.c's and PyTorch's", worst, ORACLE_BOUND)
    return "%d losses within %.1e" % (steps, worst), details


def cpu_oracle(pack):
    return oracle(pack, "oracle-cpu", cuda=False)


def cpu_ranks(pack):
    steps = 3 if pack.quick else STEPS
    flags = ("--init", weights(pack))
    one = losses_of(pack.train("oracle-cpu", steps, tokens(pack), *flags, cuda=False))
    eight = losses_of(pack.train("ranks-cpu", steps, tokens(pack), *flags, cuda=False))
    worst = worst_of(eight, one)
    within("losses of 2 x 2 x 2 ranks", worst, RANKS_BOUND)
    return "8 ranks within %.1e" % worst, {"one": one, "eight": eight}


# --- 1: every operator ----------------------------------------------------------------------------------------------

def kernel_tests(pack, select, *flags, wrap=()):
    report = pack.scratch("tests.json")
    command = [*wrap, pack.path("bin", "weft-gpu-kernels"), *pack.flags(), *flags, "--gtest_filter=" + select,
               "--gtest_output=json:" + report]
    if os.path.exists(report):
        os.remove(report)
    status, out, err = pack.call(command)
    results = []
    if os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            results = [{"name": suite["name"] + "." + test["name"], "time": test.get("time"),
                        "skipped": test.get("result") == "SKIPPED",
                        "failures": [it["failure"] for it in test.get("failures", [])],
                        "worst": {key: value for key, value in test.items() if key.startswith("worst_")}}
                       for suite in json.load(file)["testsuites"] for test in suite["testsuite"]]
    failed = [it["name"] for it in results if it["failures"]]
    if failed:
        raise CheckFailed("%d of %d tests failed: %s" % (len(failed), len(results), ", ".join(failed[:3])), out + err)
    if status != 0:
        raise CheckFailed("weft-gpu-kernels: exit status %s" % status, out + err)
    if not results:
        raise CheckFailed("weft-gpu-kernels: no test is called %s" % select, out + err)
    return results, out + err


def families(pack):
    return "Einsum*:Reduce*" if pack.quick else "-Shapes/*:Nccl*"


def kernels_own(pack):
    results, _ = kernel_tests(pack, families(pack), "--own-kernels")
    return "%d tests, own products" % len(results), {"tests": results}


def kernels_library(pack):
    results, said = kernel_tests(pack, families(pack), "--own-attention")
    if "cuBLASLt " not in said or "found no" in said:
        raise Skipped("no cuBLASLt found")
    return "%d tests, cuBLASLt's products" % len(results), {"tests": results}


def kernels_cudnn(pack):
    """The tests of attention, of which cuDNN does what it can: which shapes those were, and why not the others."""
    results, said = kernel_tests(pack, "AttentionCudaTest.TheLogSumIsOptional:AttentionCudaTest.HalvesAgreeWithFloats"
                                 if pack.quick else "Attention*:Shapes/*attention*")
    if not re.search(r"^cuDNN \d", said, re.M):
        raise Skipped("no cuDNN found")
    ways = re.findall(r"^((?:gradient of )?attention of .*?): (by cuDNN|by our own kernel)(.*)", said, re.M)
    taken = [shape for shape, way, _ in ways if way == "by cuDNN"]
    if not taken:
        raise CheckFailed("cuDNN did no attention%s" % (ways[0][2] if ways else ""), said)
    return "%d tests; %d shapes by cuDNN, %d by our own" % (len(results), len(taken), len(ways) - len(taken)), {
        "tests": results, "ways": [{"shape": shape, "way": way + more} for shape, way, more in ways]}


def kernels_large(pack):
    results, _ = kernel_tests(pack, "Small/*" if pack.quick else "Shapes/*", "--own-attention")
    made = sum(not it["skipped"] for it in results)
    return "%d shapes of models; %d kernels do not take the type" % (made, len(results) - made), {"tests": results}


def sanitizer(tool):
    def check(pack):
        program = find_tool("compute-sanitizer")
        if program is None:
            raise Skipped("no compute-sanitizer found")
        wrap = [program, "--tool", tool, "--error-exitcode", "9", "--print-limit", "20"]
        results, said = kernel_tests(pack, families(pack), "--own-kernels", wrap=wrap)
        summary = re.search(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", said)
        if summary is None or not summary.group(1).startswith("0 "):
            raise CheckFailed("%s: %s" % (tool, summary.group(1) if summary else "no summary"), said)
        return "%d tests, %s" % (len(results), summary.group(1)), {"tests": [it["name"] for it in results]}
    return check


def models(pack):
    """The first plan of every model of the speed tables: all its kernels are made, and it takes a step."""
    taken, refused = {}, {}
    for model, sizes in pack.manifest["speed"].items():
        if pack.quick and model != "tiny":
            continue
        try:
            taken[model] = losses_of(pack.train("speed-%s-%d" % (model, sizes[0]), 1, text(pack)))[0]
        except CheckFailed as error:
            if not error.does_not_fit():
                raise
            refused[model] = str(error)
    if not taken:
        raise Skipped("no model fits")
    return "%s took a step%s" % (", ".join(taken), "; too large here: " + ", ".join(refused) if refused else ""), {
        "losses": taken, "refused": refused}


# --- 2: the oracle, and the curve -----------------------------------------------------------------------------------

def gpu_oracle(pack):
    return oracle(pack, "oracle", cuda=True)


def smooth(values):
    return [sum(values[i:i + CURVE_WINDOW]) / CURVE_WINDOW for i in range(len(values) - CURVE_WINDOW + 1)]


def curve(pack):
    if pack.quick:
        raise Skipped("takes minutes (--quick)")
    f32 = losses_of(pack.train("curve-F32", 200, text(pack)))
    bf16 = losses_of(pack.train("curve-BF16", 200, text(pack)))
    worst = worst_of(smooth(bf16), smooth(f32))
    details = {"f32": f32, "bf16": bf16, "worst": worst, "worst_of_a_step": worst_of(bf16, f32)}
    if not f32[-1] < 0.7 * f32[0]:
        raise CheckFailed("expected float32's loss to fall, got %.3f to %.3f" % (f32[0], f32[-1]))
    within("BF16's loss beside float32's", worst, CURVE_BOUND)
    return "%.4f and %.4f after 200 steps, within %.2f %%" % (f32[-1], bf16[-1], 100 * worst), details


# --- 3: ranks -------------------------------------------------------------------------------------------------------

def layout(name):
    def check(pack):
        steps = 3 if pack.quick else STEPS
        flags = ("--init", weights(pack))
        if "ranks-one" not in pack.known:
            pack.known["ranks-one"] = losses_of(pack.train("ranks-one", steps, tokens(pack), *flags))
        one = pack.known["ranks-one"]
        many = losses_of(pack.train("ranks-" + name, steps, tokens(pack), *flags))
        worst = worst_of(many, one)
        within("losses of virtual ranks", worst, RANKS_BOUND)
        return "%d losses of one rank's within %.1e" % (steps, worst), {"one": one, "ranks": many}
    return check


def nccl(pack):
    results, said = kernel_tests(pack, "NcclTest.*")
    if any(it["skipped"] for it in results):
        raise Skipped("no NCCL found")
    return re.search(r"^NCCL .*", said, re.M).group(0), {"tests": results}


# --- 4 and 5 --------------------------------------------------------------------------------------------------------

def deterministic(pack):
    plan, data, steps = ("dropout", tokens(pack), 3) if pack.quick else ("curve-BF16", text(pack), 20)
    runs = [pack.train(plan, steps, data, "--deterministic") for _ in range(2)]
    first, second = ([(step["loss"], step["grad_norm"]) for step in run] for run in runs)
    different = [i for i, (a, b) in enumerate(zip(first, second)) if a != b]
    if different or len(first) != len(second):
        raise CheckFailed("expected the same bits, got others from step %d on" % different[0])
    return "%d losses and gradient norms, bit for bit" % len(first), {"losses": [it[0] for it in first]}


def graphs(pack):
    """With steps replayed as CUDA graphs and without: the same bits. All of what can be recorded is."""
    plan, data, steps = ("dropout", tokens(pack), 3) if pack.quick else ("curve-BF16", text(pack), 20)
    runs = {word: [(step["loss"], step["grad_norm"]) for step in
                   pack.train(plan, steps, data, "--deterministic", "--cuda-graphs", word)] for word in ("on", "off")}
    different = [i for i, (a, b) in enumerate(zip(runs["on"], runs["off"])) if a != b]
    if different or len(runs["on"]) != len(runs["off"]):
        raise CheckFailed("expected the same bits, got others from step %d on" % different[0])
    refused = [line for line in pack.notes if "CUDA graphs" in line]
    if refused:
        raise CheckFailed(refused[0])
    return "%d losses and gradient norms, bit for bit" % len(runs["on"]), runs


def misfit(pack):
    # The text is long enough for a step of 1024 sequences of 1024 bytes.
    status, out, err = pack.call([pack.path("bin", "weft-run"), pack.plan("misfit"), "--data", text(pack), "--steps", "1",
                                  "--quiet", *pack.flags()])
    said = re.search(r"expected at most the (\d+) bytes free of (\d+), got (\d+)", err)
    if status != 1 or said is None:
        raise CheckFailed("expected a refusal with sizes, got exit status %s" % status, out + err)
    free, _, asked = map(int, said.groups())
    if not free < asked:
        raise CheckFailed("expected more than the %d bytes that are free to be refused, got %d" % (free, asked))
    return "%.0f GiB refused, %.0f free" % (asked / 2**30, free / 2**30), {"said": err.strip()}


# Name: (what it shows, whether it needs a GPU, function). In the order in which they run: seconds and what decides most
# first, then minutes; what takes longest last, so that a limit costs least.
def all_checks(pack):
    checks = {
        "cpu.oracle": ("float32 on the CPU: the losses of llm.c and PyTorch", False, cpu_oracle),
        "cpu.ranks": ("2 x 2 x 2 ranks on the CPU", False, cpu_ranks),
        "oracle": ("2: float32: the losses of llm.c and PyTorch", True, gpu_oracle),
        "models": ("1: all kernels of every model of the speed tables", True, models),
        "kernels.own": ("1: every GPU kernel beside its CPU twin", True, kernels_own),
        "kernels.cublaslt": ("1: the same with cuBLASLt", True, kernels_library),
        "kernels.cudnn": ("1: attention by cuDNN beside its CPU twin", True, kernels_cudnn),
        "deterministic": ("4: the same losses twice", True, deterministic),
        "graphs": ("4: the same losses with CUDA graphs and without", True, graphs),
        "nccl": ("3: NCCL with one rank", True, nccl),
        "misfit": ("5: what does not fit is refused at load", True, misfit),
    }
    for name in sorted(pack.manifest["plans"]):
        if name.startswith("ranks-") and name not in ("ranks-one", "ranks-cpu"):
            checks["ranks." + name[len("ranks-"):]] = ("3: virtual ranks on one GPU", True, layout(name[len("ranks-"):]))
    checks["curve"] = ("2: 124M, 200 steps of text, BF16 beside float32", True, curve)
    checks["kernels.large"] = ("1: shapes of real models, f32, bf16, f16", True, kernels_large)
    speeds = {"speed." + model: ("tokens/s, gaps, memory; beside PyTorch", True, speed.check(model, text, Skipped))
              for model in pack.manifest["speed"]}
    slowest = {name: speeds.pop(name) for name in SLOWEST if name in speeds}
    checks.update(speeds)
    for tool in ("memcheck", "racecheck", "initcheck"):
        checks["sanitizer." + tool] = ("1: compute-sanitizer on every kernel", True, sanitizer(tool))
    checks.update(slowest)
    return checks
