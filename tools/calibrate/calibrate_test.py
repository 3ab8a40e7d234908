#!/usr/bin/env python3
"""weft calibrate from outside: its file is a cluster that jobs compile for, and what goes wrong leaves none."""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

CALIBRATE, COMPILE, PLAN = "tools/calibrate/weft-calibrate", "tools/compile/weft-compile", "tools/plan/weft-plan"
MPIRUN = sys.argv.pop() if len(sys.argv) > 1 and sys.argv[-1].endswith("mpirun.sh") else None
LIMIT_S = 300  # only a hang reaches it
# Next to no time: everything is measured once, the smallest shapes only.
BRIEF = ["--seconds=0.01", "--quiet"]


def call(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, timeout=LIMIT_S)


class CalibrateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "here.cluster")

    def compiled(self, *keys):
        plan = os.path.join(self.folder, "a.plan")
        result = call(COMPILE, "models/gpt2/tiny.job", "cluster=" + self.out, *keys, "-o", plan)
        self.assertEqual(result.returncode, 0, result.stderr)
        return plan

    def test_a_job_compiles_for_what_was_measured(self):
        with open(os.path.join(self.folder, "two.cluster"), "w", encoding="utf-8") as cluster:
            cluster.write("device { kind: 'cpu' memory_bytes: 4000000000 } node { count: 3 ranks: 2 }")
        result = call(CALIBRATE, "--cluster", cluster.name, "-o", self.out, *BRIEF)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(os.listdir(self.folder).count("here.cluster"), 1)
        self.assertEqual(len(os.listdir(self.folder)), 2, os.listdir(self.folder))
        with open(self.out, encoding="utf-8") as file:
            text = file.read()
        for part in ("weft calibrate", "memory_bytes: 4000000000", "count: 3", 'device_kind: "cpu"', 'type: "bf16"',
                     'family: "layer_norm"', 'kind: "all_to_all"', "overlap {", "reserve_bytes", "date: "):
            self.assertIn(part, text)
        self.compiled("dist.data=2")
        self.assertIn("all_reduce", call(PLAN, "show", self.compiled("dist.data=2")).stdout)
        # It is for this device alone.
        with open(self.out, "w", encoding="utf-8") as file:
            file.write(text.replace("  name: ", "  name: 'another' #", 1))
        result = call(COMPILE, "models/gpt2/tiny.job", "cluster=" + self.out, "-o", os.path.join(self.folder, "b.plan"))
        self.assertEqual(result.returncode, 2)
        self.assertIn('calibration.device: expected "another", as device.name, got "', result.stderr)
        result = call(CALIBRATE, "--cluster", self.out, "-o", os.path.join(self.folder, "x.cluster"), *BRIEF)
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_a_truncated_table_is_refused(self):
        with open(self.out, "w", encoding="utf-8") as file:
            file.write("device { kind: 'cpu' }\nnode { count: 1 ranks: 2 }\ncalibration { device_kind: 'cpu'\nproduct { m: 1")
        result = call(COMPILE, "models/gpt2/tiny.job", "cluster=" + self.out, "-o", os.path.join(self.folder, "a.plan"))
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
        self.assertIn("here.cluster:4:", result.stderr)

    def test_another_device_is_refused(self):
        cluster = os.path.join(self.folder, "other.cluster")
        with open(cluster, "w", encoding="utf-8") as file:
            file.write("device { kind: 'cpu' name: 'abacus' } node { count: 1 ranks: 2 }")
        result = call(CALIBRATE, "--cluster", cluster, "-o", self.out, *BRIEF)
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
        self.assertIn('other.cluster: device.name: expected this machine\'s "', result.stderr)
        self.assertIn('got "abacus"', result.stderr)
        self.assertFalse(os.path.exists(self.out))

    def test_a_place_where_nothing_can_be_written_is_refused_at_once(self):
        result = call(CALIBRATE, "-o", os.path.join(self.folder, "none", "here.cluster"), "--seconds=600")
        self.assertEqual((result.returncode, result.stderr.count("\n")), (2, 1), result.stderr)
        self.assertIn("cannot be created: No such file or directory", result.stderr)

    def test_what_is_interrupted_leaves_nothing(self):
        running = subprocess.Popen([CALIBRATE, "-o", self.out, "--seconds=600"], stderr=subprocess.PIPE, text=True)
        self.assertIn("steps", running.stderr.readline())
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=LIMIT_S)
        self.assertNotEqual(running.returncode, 0)
        self.assertEqual(os.listdir(self.folder), [])

    @unittest.skipIf(MPIRUN is None, "no MPI in this build")
    def test_processes(self):
        result = call(MPIRUN, "2", os.path.abspath(CALIBRATE), "-o", self.out, *BRIEF)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(self.out, encoding="utf-8") as file:
            text = file.read()
        self.assertIn("ranks: 2", text)
        self.assertIn('kind: "all_reduce"', text)
        self.compiled("dist.data=2")


if __name__ == "__main__":
    unittest.main()
