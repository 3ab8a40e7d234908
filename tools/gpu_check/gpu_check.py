"""Checks Weft on this machine: its kernels, its numbers and its speed on the GPU, and what needs none on the CPU.

Needs an NVIDIA driver; uses cuBLASLt, cuDNN, NCCL, CUPTI, compute-sanitizer and PyTorch where they are. Prints a table last and
writes everything to a JSON file.
"""

import argparse
import datetime
import fnmatch
import json
import os
import platform
import sys
import tempfile
import time
import traceback

import checks as all_of_them
from machine import CheckFailed, OutOfTime, Pack, describe

NO_DRIVER = "no driver found"
STATUS = """exit status: 0 nothing failed, 1 a check failed, 2 the request was wrong, 3 nothing failed, but without a driver
nothing was checked on a GPU"""


def run_check(pack, name, function):
    begin = time.monotonic()
    pack.notes = []
    try:
        numbers, details = function(pack)
        result = {"result": "passed", "numbers": numbers, "details": details}
    except all_of_them.Skipped as why:
        result = {"result": "skipped", "numbers": str(why), "details": {}}
    except OutOfTime:
        result = {"result": "skipped", "numbers": "out of time (--limit)", "details": {}}
    except CheckFailed as error:
        result = {"result": "FAILED", "numbers": str(error), "details": {"said": error.said[-20000:]}}
        pack.keep(name + ".log", error.said.encode())
    except Exception as error:  # a check that is wrong itself fails alone
        result = {"result": "FAILED", "numbers": "%s: %s" % (type(error).__name__, error),
                  "details": {"said": traceback.format_exc()}}
    return dict(result, notes=pack.notes, seconds=round(time.monotonic() - begin, 2))


def select(names, patterns):
    if not patterns:
        return list(names)
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            sys.stderr.write("gpu_check: %s: expected a check (see --list), got none of that name\n" % pattern)
            sys.exit(2)
    return [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def run_checks(pack, names, known, machine, save):
    """The results by name; `save` is told of all so far, as who runs this may be out of time before the end."""
    results = {}
    for name in names:
        what, gpu, function = known[name]
        if gpu and machine["driver"] is None:
            result = {"result": NO_DRIVER, "numbers": "", "details": {}, "notes": [], "seconds": 0}
        else:
            result = run_check(pack, name, function)
        results[name] = dict(result, what=what)
        print("\n  ".join(["%-34s %s  %s" % (name, result["result"], result["numbers"]), *result["notes"]]), flush=True)
        save(results)
    return results


def print_table(machine, results, out):
    width = max(len(name) for name in results)
    print()
    print("; ".join(machine["gpus"]) if machine["driver"] else NO_DRIVER, "(everything is in %s)" % out)
    print("%-*s  %-15s  %8s  %s" % (width, "check", "result", "seconds", "numbers"))
    for name, it in results.items():
        notes = "; %d notes" % len(it["notes"]) if it["notes"] else ""
        print("%-*s  %-15s  %8.1f  %s%s" % (width, name, it["result"], it["seconds"], it["numbers"], notes))


def report_of(pack, machine):
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"), "host": platform.node(),
            "system": platform.platform(), "device": machine["gpus"], "cuda_driver": machine["driver"],
            "driver_version": machine["driver_version"], "found": machine["found"], "quick": pack.quick,
            "version": pack.manifest["version"], "packed": pack.manifest["packed"]}


def save(report, path):
    """Whole or as it was."""
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    os.replace(path + ".part", path)


def exit_status(results):
    outcomes = {it["result"] for it in results.values()}
    return 1 if "FAILED" in outcomes else 3 if NO_DRIVER in outcomes else 0


def main():
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__, epilog=STATUS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", help="names or patterns such as `ranks.*`; all if none is named")
    parser.add_argument("--out", default="gpu_check.json", help="default: %(default)s in this folder")
    parser.add_argument("--cuda-libs", default="", help="folder with cuBLASLt, cuDNN and NCCL; else where weft-run looks")
    parser.add_argument("--limit", type=int, help="seconds that all of it may take: what is not done by then is skipped")
    parser.add_argument("--program-limit", type=int, default=1800,
                        help="seconds that one program may take; default: %(default)s")
    parser.add_argument("--keep", metavar="FOLDER", help="puts there what the GPU did in each profiled run, and all that "
                        "a failed check said")
    parser.add_argument("--brief", action="store_true", help="speeds of the first micro-batch alone, without PyTorch's table")
    parser.add_argument("--alone", action="store_true", help="speeds without PyTorch's, which compiles for a minute a model")
    parser.add_argument("--quick", action="store_true", help="a few steps and kernels of each: is the pack whole?")
    parser.add_argument("--list", action="store_true", help="the checks, without running them")
    arguments = parser.parse_args()
    end = None if arguments.limit is None else time.monotonic() + arguments.limit
    with tempfile.TemporaryDirectory(prefix="gpu_check-") as work:
        pack = Pack(os.path.dirname(os.path.abspath(__file__)), work, arguments.cuda_libs, arguments.quick,
                    arguments.program_limit, end, arguments.brief, arguments.keep and os.path.abspath(arguments.keep), arguments.alone)
        known = all_of_them.all_checks(pack)
        if arguments.list:
            for name, (what, gpu, _) in known.items():
                print("%-34s %s%s" % (name, "" if gpu else "no GPU needed; ", what))
            return 0
        names = select(known, arguments.checks)
        try:
            machine = describe(pack)
        except CheckFailed as error:
            sys.stderr.write("gpu_check: %s\n%s\n" % (error, error.said))
            return 1
        except OutOfTime:
            sys.stderr.write("gpu_check: --limit: expected time to look at the machine, got %d s\n" % arguments.limit)
            return 1
        print("\n".join(machine["found"]))
        report = report_of(pack, machine)
        results = run_checks(pack, names, known, machine, lambda results: save(dict(report, results=results), arguments.out))
    print_table(machine, results, arguments.out)
    return exit_status(results)


if __name__ == "__main__":
    sys.exit(main())
