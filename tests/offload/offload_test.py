#!/usr/bin/env python3
"""State, parameters and gradients on a disk, seen from outside: plans that fit, checkpoints, and what is refused."""
import ctypes
import json
import os
import re
import struct
import subprocess
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, ProgramTest, call, command, corpus, losses, main  # noqa: E402

CLUSTER = "cluster=../offload/disk.cluster"
NOISY = ("model.set=dropout=0.1", "batch={global: 8 micro: 4}", CLUSTER)
HOST = "cluster=../offload/host.cluster"
OFFLOAD, ALL, BY_HOST = "zero.offload=OPTIMIZER", "zero.offload=PARAMETERS", "zero.update=HOST"


def refuse_io_uring():
    """As some containers do, of what this process becomes: seccomp(2) with a filter of four instructions."""
    set_seccomp, set_no_new_privileges, filter_mode, io_uring_setup, eperm = 22, 38, 2, 425, 1
    load, jump_if_equal, answer, allow, fail = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000
    instructions = [(load, 0, 0, 0), (jump_if_equal, 0, 1, io_uring_setup), (answer, 0, 0, fail | eperm), (answer, 0, 0, allow)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *it) for it in instructions))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(code)))
    libc = ctypes.CDLL(None)
    if libc.prctl(set_no_new_privileges, 1, 0, 0, 0) or libc.prctl(set_seccomp, filter_mode, program):
        os._exit(125)


class OffloadTest(ProgramTest):
    def memory(self, plan):
        return json.loads(self.run_ok("weft-plan", "memory", "--json", plan).out)["stages"][0]

    def refused(self, *overrides):
        result = call("weft-compile", JOB, *overrides, "-o", self.path("none.plan"))
        self.assertEqual(result.status, 2, result.err)
        self.assertFalse(os.path.exists(self.path("none.plan")))
        return result.err

    def test_fits_where_it_did_not(self):
        small = ("batch={global: 1 micro: 1}", "model.set=hidden=128", CLUSTER)
        whole = self.memory(self.plan(*small))["arena_bytes"]
        below = self.memory(self.plan(*small, OFFLOAD))
        self.assertLess(below["arena_bytes"], whole)
        limit = f"cluster.device.memory_bytes={(whole + below['arena_bytes']) // 2}"
        said = self.refused(*small, limit)
        self.assertIn("the plan does not fit: stage 0: memory of a rank: expected at most ", said)
        self.assertIn("zero.offload=OPTIMIZER: ", said)
        plan = self.plan(*small, limit, OFFLOAD)
        self.assertEqual(below["tiers"], self.memory(plan)["tiers"])
        self.assertIn(f"tier `disk` a rank: {below['tiers'][0]['bytes']:,} B", self.run_ok("weft-plan", "show", plan).out)
        self.train(plan, 2, "--tier-dir", self.path("tiers"), data=self.write("corpus.txt", corpus(8)))

    def test_checkpoints_know_no_tiers(self):
        data, tiers = self.write("corpus.txt", corpus(40)), ("--tier-dir", self.path("tiers"))
        here, below, lower = (self.plan(*NOISY, "dist.data=2", *more) for more in ((), (OFFLOAD,), (ALL,)))
        self.train(here, 9, "--metrics", self.path("here.jsonl"), "--checkpoint-dir", self.path("here"), data=data)
        flags = ("--checkpoint-dir", self.path("below"), "--metrics", self.path("below.jsonl"), "--resume")
        for plan, stop, more in ((below, 3, tiers), (here, 6, ()), (lower, 9, tiers)):
            self.train(plan, stop, *flags, *more, data=data)
        self.assertEqual(losses(self.path("below.jsonl")), losses(self.path("here.jsonl")))
        for last in ("step-00000009/optimizer.safetensors", "step-00000009/model.safetensors"):
            with open(self.path(f"here/{last}"), "rb") as one, open(self.path(f"below/{last}"), "rb") as other:
                self.assertEqual(one.read(), other.read())
        self.assertEqual(os.listdir(self.path("tiers")), [])

    def test_memory_counts_parameters_wherever_they_lie(self):
        plans = [self.plan(*NOISY[:2], HOST, *more) for more in ((), (OFFLOAD, BY_HOST), (ALL,))]
        said = [re.search(r"to train, a parameter: (.*) B = .* B, of (.*) parameters", self.run_ok("weft-plan", "memory", it).out)
                for it in plans]
        self.assertEqual(len({it[2] for it in said}), 1)
        self.assertEqual(said[0][1], "4.00 B + gradients 4.00 B + optimizer 8.00")
        for it in said[1:]:
            self.assertRegex(it[1], r"^[0-4]\.\d\d B \+ gradients [0-4]\.\d\d B \+ optimizer [0-3]\.\d\d$")

    def test_the_host_goes_on_where_the_device_was(self):
        data = self.write("corpus.txt", corpus(40))
        here, state, all_ = (self.plan(*NOISY[:2], HOST, "dist.data=2", "zero.stage=1", *more)
                             for more in ((), (OFFLOAD, BY_HOST), (ALL, BY_HOST)))
        self.train(here, 9, "--metrics", self.path("here.jsonl"), "--checkpoint-dir", self.path("here"), data=data)
        flags = ("--checkpoint-dir", self.path("below"), "--metrics", self.path("below.jsonl"), "--resume")
        for plan, stop in ((state, 3), (here, 6), (all_, 9)):
            self.train(plan, stop, *flags, data=data)
        self.assertEqual(losses(self.path("below.jsonl")), losses(self.path("here.jsonl")))
        for last in ("step-00000009/optimizer.safetensors", "step-00000009/model.safetensors"):
            with open(self.path(f"here/{last}"), "rb") as one, open(self.path(f"below/{last}"), "rb") as other:
                self.assertEqual(one.read(), other.read())

    def test_evaluates_what_lies_below(self):
        data, held_out = self.write("corpus.txt", corpus(40)), self.write("other.txt", corpus(10))

        def found(*more, flags=()):
            metrics = self.path("m.jsonl")
            plan = self.plan("data.format=TEXT", "evaluation={graph: \"evaluate\" every: 2}", "batch={global: 8 micro: 4}", *more)
            self.train(plan, 4, "--metrics", metrics, "--eval-data", held_out, *flags, data=data)
            with open(metrics) as lines:
                steps = [line for line in map(json.loads, lines) if "loss" in line or "eval_loss" in line]
            return [{key: line[key] for key in ("step", "loss", "eval_loss") if key in line} for line in steps]

        tiers = ("--tier-dir", self.path("tiers"))
        for layout in ((), ("dist.data=2", "zero.stage=2", "precision.compute=BF16"), ("dist.data=2", "zero.stage=3"),
                       ("dist.pipeline=2", "precision.compute=BF16")):
            here = found(*layout, HOST)
            self.assertEqual([line["step"] for line in here if "eval_loss" in line], [2, 4])
            for below, flags in (((HOST, OFFLOAD), ()), ((HOST, OFFLOAD, BY_HOST), ()), ((HOST, ALL, BY_HOST), ()),
                                 ((CLUSTER, ALL), tiers)):
                with self.subTest(layout=layout, below=below):
                    self.assertEqual(found(*layout, *below, flags=flags), here)

    def test_a_full_disk_is_one_error(self):
        plan, data = self.plan(CLUSTER, OFFLOAD), self.write("corpus.txt", corpus(8))
        result = call("weft-run", plan, "--data", data, "--steps", 1, "--tier-dir", self.path("tiers"),
                      shell="ulimit -f 64")
        self.assertEqual(result.status, 1, result.err)
        self.assertRegex(result.err, r"weft-run: rank 0: tier `disk`: .*: cannot allocate: File too large\n")
        self.assertEqual(os.listdir(self.path("tiers")), [])

    def test_memory_that_the_host_does_not_have_is_one_error(self):
        # 400 TiB a way: arenas, and what lies below.
        plan = self.plan(HOST, OFFLOAD, BY_HOST, "dist.data=4", "zero.stage=1", "model.set=hidden=1048576")
        result = call("weft-run", plan, "--data", self.write("corpus.txt", corpus(8)), "--steps", 1, "--quiet")
        self.assertEqual(result.status, 1, result.err)
        self.assertRegex(result.err, r"^weft-run: host memory: expected at most the [0-9]+ bytes available, got [0-9]+ for 4 ranks: "
                                     r"[0-9.]+ TiB of arenas, 384 TiB of tier `host`\n$")

    def test_goes_on_where_io_uring_is_refused(self):
        plan, data = self.plan(*NOISY, OFFLOAD), self.write("corpus.txt", corpus(8))
        found = []
        for name, before in (("allowed", None), ("refused", refuse_io_uring)):
            metrics = self.path(name + ".jsonl")
            line = command("weft-run", plan, "--data", data, "--steps", 2, "--tier-dir", self.path("tiers"), "--metrics", metrics)
            done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, preexec_fn=before)
            self.assertEqual(done.returncode, 0, done.stderr)
            found.append(losses(metrics))
        self.assertIn("tier `disk`: one read or write at a time, as io_uring is refused: io_uring_setup: Operation not permitted\n",
                      done.stderr)
        self.assertEqual(found[0], found[1])

    def test_bad_input(self):
        self.assertIn("zero.offload: expected a cluster with tiers below the device, got the local machine, which has none",
                      self.refused(OFFLOAD))
        self.assertIn("zero.tier: expected a tier of tests/offload/disk.cluster, `disk` or `floppy`, got `tape`",
                      self.refused(CLUSTER, OFFLOAD, "zero.tier=tape"))
        self.assertIn("zero.tier: expected zero.offload, which says what lies there, got NOTHING",
                      self.refused(CLUSTER, "zero.tier=disk"))
        self.assertIn("zero.update=HOST: expected a tier of kind HOST with update_bytes_s, which says at what rate the host "
                      "updates, got `disk` of kind DISK", self.refused(CLUSTER, OFFLOAD, BY_HOST))
        self.assertIn("zero.update: expected DEVICE without zero.offload, which says what lies where the host updates, got HOST",
                      self.refused(CLUSTER, BY_HOST))
        said = self.refused(CLUSTER, OFFLOAD, "zero.tier=floppy")
        self.assertIn("the plan does not fit: stage 0: tier `floppy` of a rank: expected at most 4,096 bytes (4.00 KiB), got ",
                      said)
        self.assertNotIn("it would fit", said)
        plan, data = self.plan(CLUSTER, OFFLOAD), self.write("corpus.txt", corpus(8))
        result = call("weft-run", plan, "--data", data)
        self.assertEqual(result.status, 2)
        self.assertIn(f"--tier-dir: expected a folder for tier `disk` of {plan}, got none", result.err)
        result = call("weft-run", self.plan(CLUSTER), "--data", data, "--tier-dir", self.path("tiers"))
        self.assertEqual(result.status, 2)
        self.assertIn("--tier-dir: expected only with a plan that keeps something on a disk, got ", result.err)
        self.assertFalse(os.path.exists(self.path("tiers")))


if __name__ == "__main__":
    main()
