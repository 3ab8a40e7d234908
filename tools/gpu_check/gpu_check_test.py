#!/usr/bin/env python3
"""A pack as tools/gpu_check/pack makes it: its size, what its programs need, and its script on machines without a driver and
with the emulated one."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

PROGRAMS = ["tests/cuda/kernels/weft-gpu-kernels", "tools/bench/gpu_matrix", "runtime/device/cuda/libweft-activity.so",
            "tools/compile/weft-compile", "tools/plan/weft-plan", "tools/run/weft-run"]
LIBRARY = "tests/emulation/libraries/libcuda.so.1"
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2"}
HAS_DRIVER = any(os.path.exists(folder + "/libcuda.so.1") for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/wsl/lib"))


class GpuCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        programs = cls.folder + "/bin"
        os.mkdir(programs)
        for path in PROGRAMS:
            os.symlink(os.path.abspath(path), f"{programs}/{os.path.basename(path)}")
        cls.libraries = cls.folder + "/libraries"
        os.mkdir(cls.libraries)
        for name in ("libcuda.so.1", "libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2", "libcupti.so.13"):
            os.symlink(os.path.realpath(LIBRARY), f"{cls.libraries}/{name}")
        # As long as the text that is packed, and no easier to compress; a text has no byte 0.
        with open(cls.folder + "/text", "wb") as text:
            text.write(os.urandom(1_300_000).replace(b"\0", b"1"))
        cls.pack = cls.folder + "/pack"
        subprocess.run(["/usr/bin/python3", "-B", "tools/gpu_check/pack.py", "--bin", programs, "--root", os.getcwd(),
                        "--text", cls.folder + "/text", "--out", cls.pack], check=True, env={"PATH": os.environ["PATH"]})

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def check(self, *arguments, driver, pack=None):
        """(exit status, the report, stdout) of a quick run."""
        report = self.folder + "/report.json"
        if os.path.exists(report):
            os.remove(report)
        environment = {"PATH": os.environ["PATH"]}
        if driver:
            environment["LD_LIBRARY_PATH"] = self.libraries
        done = subprocess.run([(pack or self.pack) + "/gpu_check", "--quick", "--cuda-libs", self.libraries, "--out", report,
                               *arguments], capture_output=True, text=True, env=environment, cwd="/")
        if not os.path.exists(report):
            return done.returncode, None, done.stdout + done.stderr
        with open(report, encoding="utf-8") as file:
            return done.returncode, json.load(file), done.stdout + done.stderr

    def test_is_small_and_stands_alone(self):
        self.assertLess(os.path.getsize(self.pack + ".tar.gz"), 60 << 20)
        shipped = set(os.listdir(self.pack + "/lib"))
        for name in os.listdir(self.pack + "/bin"):
            said = subprocess.run(["ldd", f"{self.pack}/bin/{name}"], check=True, capture_output=True, text=True).stdout
            needed = {os.path.basename(line.split()[0]) for line in said.splitlines()} - {"linux-vdso.so.1"}
            self.assertIn("libc.so.6", needed)
            self.assertEqual(needed - LIBC - shipped, set(), name)
        self.assertFalse([name for at, _, names in os.walk(self.pack) for name in names if os.path.islink(os.path.join(at, name))])

    @unittest.skipIf(HAS_DRIVER, "this machine has a driver")
    def test_without_a_driver(self):
        status, report, said = self.check(driver=False)
        self.assertEqual(status, 3, said)
        for name, it in report["results"].items():
            self.assertEqual(it["result"], "passed" if name.startswith("cpu.") else "no driver found", name)
        self.assertEqual(sum(name.startswith("cpu.") for name in report["results"]), 2)
        table = said[said.rindex("\ncheck ") + 1:].splitlines()
        self.assertEqual(len(table), 1 + len(report["results"]))
        self.assertRegex(said, r"(?m)^ranks\.tensor-2 +no driver found ")
        self.assertIsNone(report["cuda_driver"])
        self.assertRegex(report["date"], r"^\d{4}-\d\d-\d\dT")

    def test_with_the_emulated_driver(self):
        names = ["kernels.*", "sanitizer.memcheck", "models", "oracle", "ranks.data-2-tensor-2-pipeline-2", "nccl", "deterministic",
                 "graphs", "misfit", "speed.tiny", "speed.124m"]
        status, report, said = self.check(*names, driver=True)
        self.assertEqual(status, 0, said)
        results = {name: it["result"] for name, it in report["results"].items()}
        for name in ("kernels.own", "kernels.cublaslt", "kernels.cudnn", "kernels.large", "models", "oracle", "nccl",
                     "ranks.data-2-tensor-2-pipeline-2", "deterministic", "graphs", "misfit", "speed.tiny"):
            self.assertEqual(results[name], "passed", said)
        self.assertEqual(results["speed.124m"], "skipped")
        speed = report["results"]["speed.tiny"]["details"]
        self.assertEqual([run["size"] for run in speed["runs"]], [4, 2])
        self.assertGreater(speed["matrix"]["flops_s"], 0)
        self.assertGreater(speed["runs"][0]["weft"]["flops_s"], 0)
        self.assertIn("embedding_grad_bf16", [it["name"] for it in speed["profile"]["kernels"]])
        self.assertEqual((report["device"], report["cuda_driver"]), (["emulated", "emulated"], "13.0"))
        self.assertEqual(len(report["results"]["oracle"]["details"]["losses"]), 5)
        self.assertGreater(len(report["results"]["kernels.large"]["details"]["tests"]), 30)
        # What went another way is said, of this check alone.
        notes = report["results"]["oracle"]["notes"]
        self.assertTrue(any("by our own kernel; cuDNN: expected bf16 or f16, got f32" in it for it in notes), notes)
        self.assertIn("  " + notes[0], said)
        self.assertEqual(report["results"]["models"]["notes"], [])
        ways = report["results"]["kernels.cudnn"]["details"]["ways"]
        self.assertTrue(any(it["way"].startswith("by cuDNN, engine 0") for it in ways), ways)
        self.assertTrue(any("cuDNN: expected bf16 or f16, got f32" in it["way"] for it in ways), ways)
        self.assertRegex(report["results"]["misfit"]["numbers"], r"^\d+ GiB refused, 1 free$")

    def test_a_difference_fails(self):
        wrong = self.folder + "/wrong"
        shutil.copytree(self.pack, wrong)
        path = wrong + "/data/tiny_losses_f64.txt"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        changed = re.sub(r"(?m)^3 (\d+)\.", lambda found: "3 %d." % (int(found.group(1)) + 1), text)
        self.assertNotEqual(changed, text)
        with open(path, "w", encoding="utf-8") as file:
            file.write(changed)
        status, report, said = self.check("cpu.oracle", driver=False, pack=wrong)
        self.assertEqual(status, 1, said)
        self.assertIn("expected at most 1.0e-04, got 1.000e+00", report["results"]["cpu.oracle"]["numbers"])

    def test_what_is_cheap_comes_first(self):
        status, _, said = self.check("--list", driver=False)
        self.assertEqual(status, 0, said)
        names = [line.split()[0] for line in said.splitlines()]
        order = ["cpu.oracle", "oracle", "models", "graphs", "speed.124m", "sanitizer.memcheck", "speed.1.5b"]
        self.assertEqual(sorted(order, key=names.index), order)
        self.assertEqual(names[-1], "speed.1.5b")

    def test_what_there_is_no_time_for_is_skipped(self):
        code = ("import tempfile, gpu_check, machine\n"
                "pack = machine.Pack('.', tempfile.mkdtemp(), end=0)\n"  # long ago
                "print(gpu_check.run_check(pack, 'version', lambda pack: pack.run('weft-run', '--version')))")
        said = subprocess.run(["/usr/bin/python3", "-B", "-c", code], check=True, capture_output=True, text=True,
                              cwd=self.pack).stdout
        self.assertIn("'result': 'skipped', 'numbers': 'out of time (--limit)'", said)

    def test_what_is_asked_for_exists(self):
        status, report, said = self.check("oracel", driver=False)
        self.assertEqual((status, report), (2, None))
        self.assertIn("oracel: expected a check (see --list), got none of that name", said)

    def test_a_profile_of_the_emulated_gpu(self):
        environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": self.libraries,
                       "CUDA_INJECTION64_PATH": self.pack + "/lib/libweft-activity.so"}
        work = tempfile.mkdtemp(dir=self.folder)
        subprocess.run([self.pack + "/bin/weft-run", self.pack + "/plans/ranks-one.plan", "--data",
                        self.pack + "/data/tokens.bin", "--steps", "5", "--quiet", "--cuda-libs", self.libraries,
                        "--algorithm-cache", work + "/algorithms"], check=True, env=environment, cwd=work)
        summary = subprocess.run(["/usr/bin/python3", "-B", "-c", "import glob, json, kernel_table; print(json.dumps("
                                  "kernel_table.summary(kernel_table.read(glob.glob('%s/*.tsv')[0]))))" % work], check=True,
                                 capture_output=True, text=True, cwd=self.pack).stdout
        calls = {it["name"]: it["calls"] for it in json.loads(summary)["kernels"]}
        self.assertEqual(calls["clip_scale"], 1)
        self.assertEqual(calls["embedding_grad_f32"], 2)  # one of two micro-batches; positions are no lookup


if __name__ == "__main__":
    unittest.main()
