#!/usr/bin/env python3
"""weft-run as it is on a machine with two GPUs: the driver, cuBLASLt and NCCL that it opens are emulations, the fat
binaries it carries are looked at and replaced by the emulation's kernels."""
import os
import subprocess
import sys

sys.path.insert(0, "tests/support")
from programs import JOB, LIMIT_S, TOKENS, WEIGHTS, ProgramTest, Result, command, contents, losses, main, metrics  # noqa: E402

LIBRARY = "tests/emulation/libraries/libcuda.so.1"
CLUSTER = "cluster=" + os.path.abspath("tests/cuda/one_gpu.cluster")
STEPS = 3
SMALL = ("batch.micro=2",)
LAYOUTS = {
    "data": ("dist.data=2",),
    "tensor": ("dist.tensor=2",),
    "pipeline": ("dist.pipeline=2",),
    "zero": ("dist.data=2", "zero.stage=3"),
}


class ProgramsTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.libraries = self.path("libraries")
        os.mkdir(self.libraries)
        for name in ("libcuda.so.1", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"):
            os.symlink(os.path.realpath(LIBRARY), f"{self.libraries}/{name}")

    def call(self, *arguments, processes=0, driver=True, program="weft-run"):
        line = command(program, *arguments, "--cuda-libs", self.libraries, "--algorithm-cache", self.path("algorithms"))
        if processes:
            line = [os.path.abspath("tools/build_defs/mpirun.sh"), str(processes), *line]
        environment = {key: value for key, value in os.environ.items() if key != "XML_OUTPUT_FILE"}
        if driver:
            environment["LD_LIBRARY_PATH"] = self.libraries
        done = subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                              env=environment)
        return Result(done.returncode, done.stdout, done.stderr)

    def losses(self, plan, *flags, processes=0):
        name = self.path("metrics.jsonl")
        if os.path.exists(name):
            os.remove(name)
        done = self.call(plan, "--data", TOKENS, "--init", WEIGHTS, "--steps", STEPS, "--threads", 1, "--quiet", "--metrics",
                         name, *flags, processes=processes)
        self.assertEqual(done.status, 0, done.err)
        self.assertNotIn("emulated", done.err)  # a complaint
        return losses(name)

    def assert_near(self, got, expected, bound):
        self.assertEqual(len(got), len(expected))
        for a, b in zip(got, expected):
            self.assertLess(abs(a - b) / b, bound, (got, expected))

    def test_one_rank_has_the_losses_of_the_cpu(self):
        gpu = self.losses(self.plan(*SMALL, CLUSTER))
        cpu = self.losses(self.plan(*SMALL))
        self.assert_near(gpu, cpu, 2e-5)
        self.assertEqual(self.losses(self.plan(*SMALL, CLUSTER)), gpu)

    def test_processes_have_the_losses_of_virtual_ranks(self):
        for name, layout in LAYOUTS.items():
            with self.subTest(layout=name):
                plan = self.plan(*SMALL, CLUSTER, *layout)
                self.assert_near(self.losses(plan, processes=2), self.losses(plan), 2e-5)

    def test_narrow_copies_are_made_anew_of_what_is_loaded(self):
        plan = self.plan("batch={global: 4 micro: 2}", CLUSTER, "precision.compute=BF16")
        self.assertIn("adam+cast", self.run_ok("weft-plan", "show", plan, "--kernels").out)
        whole = self.losses(plan)
        for steps in (1, STEPS):
            done = self.call(plan, "--data", TOKENS, "--init", WEIGHTS, "--steps", steps, "--threads", 1, "--quiet", "--resume",
                             "--checkpoint-dir", self.path("parts"), "--metrics", self.path("parts.jsonl"))
            self.assertEqual(done.status, 0, done.err)
        self.assertEqual(losses(self.path("parts.jsonl")), whole)

    def test_a_function_has_its_parameters_in_16_bits(self):
        asked = ("--init", WEIGHTS, "--prompt-ids", "1,2,3", "--tokens", 8, "--end", "none", "--quiet")
        key = "precision.compute=BF16"
        gpu = self.call(JOB, key, CLUSTER, *asked, program="weft-generate")
        self.assertEqual(gpu.status, 0, gpu.err)
        self.assertEqual(gpu.out, self.run_ok("weft-generate", JOB, key, *asked).out)

    def test_evaluations_between_steps_have_the_numbers_of_the_cpu(self):
        asked = (*SMALL, "evaluation={graph: \"evaluate\" every: 1 batches: 2}")

        def evaluated(plan, processes=0):
            self.losses(plan, "--eval-data", TOKENS, processes=processes)
            return [line["eval_loss"] for line in metrics(self.path("metrics.jsonl"))]

        cpu = evaluated(self.plan(*asked))
        self.assertEqual(len(cpu), STEPS)
        self.assert_near(evaluated(self.plan(*asked, CLUSTER)), cpu, 2e-5)
        for name in ("pipeline", "zero"):
            with self.subTest(layout=name):
                self.assert_near(evaluated(self.plan(*asked, CLUSTER, *LAYOUTS[name]), processes=2), cpu, 2e-5)

    def test_debug_nan_looks_into_the_memory_of_the_gpu(self):
        for layout, processes in (((), 0), (("dist.tensor=2",), 2)):
            with self.subTest(layout=layout):
                plan = self.plan(*SMALL, CLUSTER, "optimizer.adamw.lr=1e30", *layout)
                done = self.call(plan, "--data", TOKENS, "--steps", 3, "--threads", 1, "--quiet", "--debug-nan",
                                 processes=processes)
                self.assertEqual(done.status, 1, done.err)
                self.assertIn("step 2 again, from its start: the same numbers, bit for bit\nfirst not finite\n", done.err)
                self.assertRegex(done.err, r"\n  tensor  `h\.0[^`]*`, f32.* not finite, the first at .*\n"
                                           r"  made by kernel `\w+` at layers\.mlir:\d+:\d+ in h\.0[\w.]*\n"
                                           r"  on      rank 0\b.*, actor `h\.0\.forward[^`]*` \(micro-batch 0\)\n")
                self.assertRegex(done.err, r"\n  of      `h\.0[^`]*`, f32\[.*\] from -\S+ to \S+\n")

    def test_two_processes_on_one_gpu_are_refused(self):
        plan = self.plan("batch={global: 6 micro: 6}", CLUSTER, "dist.data=3")
        done = self.call(plan, "--data", TOKENS, "--steps", 1, "--quiet", processes=3)
        self.assertEqual(done.status, 2, done.err)
        self.assertIn("expected a GPU for each process, got ranks 0 and 2 on one (emulated)", done.err)

    def test_a_plan_that_does_not_fit_is_refused_with_the_sizes(self):
        roomy = contents("tests/cuda/one_gpu.cluster").decode().replace("memory_bytes: 1000000000", "memory_bytes: 99000000000")
        cluster = self.write("roomy.cluster", roomy)
        plan = self.plan("batch={global: 4096 micro: 4096}", "cluster=" + os.path.abspath(cluster))
        many = os.path.join(os.path.dirname(cluster), "many.bin")
        with open(TOKENS, "rb") as tokens, open(many, "wb") as out:
            out.write(tokens.read()[1024:] * 5)  # a step's, without the header
        done = self.call(plan, "--data", many, "--steps", 1, "--quiet")
        self.assertEqual(done.status, 1, done.err)
        self.assertRegex(done.err, r"GPU 0 \(emulated\): expected at most the \d+ bytes free of 1073741824, got \d+")

    def test_says_what_it_found(self):
        found = self.call("--devices")
        self.assertEqual(found.status, 0, found.err)
        self.assertIn("CUDA driver 13.0, 2 GPUs\n  0: emulated, compute capability 9.0, 4 multiprocessors, 1.0 GiB\n",
                      found.out)
        self.assertIn(f"cuBLASLt 13.1.0 ({self.libraries}/libcublasLt.so.13)\n", found.out)
        self.assertIn(f"cuDNN 9.19.0 ({self.libraries}/libcudnn.so.9)\n", found.out)
        self.assertIn(f"NCCL 2.28.9 ({self.libraries}/libnccl.so.2)\n", found.out)
        told = self.call(self.plan(*SMALL, CLUSTER), "--data", TOKENS, "--steps", 1)
        self.assertIn("CUDA driver 13.0, 2 GPUs\n", told.err + told.out)
        self.assertRegex(told.err, r" planned, and \d+(\.\d+)? \w+ for kernels beside it\n")

    def test_without_a_driver_it_starts_and_says_so(self):
        if any(os.path.exists(f"/usr/lib/{folder}/libcuda.so.1") for folder in ("x86_64-linux-gnu", "wsl/lib")):
            self.skipTest("this machine has a driver")
        found = self.call("--devices", driver=False)
        self.assertEqual(found.status, 0, found.err)
        self.assertIn("CUDA: expected an NVIDIA driver, found no libcuda.so.1\n", found.out)
        refused = self.call(self.plan(*SMALL, CLUSTER), "--data", TOKENS, "--steps", 1, driver=False)
        self.assertEqual(refused.status, 1)
        self.assertEqual(refused.err, "weft-run: CUDA: expected an NVIDIA driver, found no libcuda.so.1\n")


if __name__ == "__main__":
    main()
