#!/usr/bin/env python3
"""Products without the libraries that weft-run opens for them: other code, the same losses."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/support")
from programs import TOKENS, WEIGHTS, ProgramTest, command, losses, main, relative  # noqa: E402

EMPTY = "/lib/x86_64-linux-gnu/libdl.so.2"  # a library that has nothing of theirs
STEPS = 5


class LibrariesTest(ProgramTest):
    def losses(self, name, plan, folder, *flags):
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "DNNL_VERBOSE": "1"}
        done = subprocess.run(command("weft-run", plan, "--data", TOKENS, "--init", WEIGHTS, "--steps", STEPS, "--quiet",
                                      "--metrics", self.path(name), *flags), capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return losses(self.path(name)), "exec,cpu,matmul" in done.stdout

    def without(self, *names):
        """A folder in which libraries of these names lack everything."""
        folder = self.path("without-" + "-".join(names))
        os.mkdir(folder)
        for name in names:
            shutil.copyfile(EMPTY, os.path.join(folder, name))
        return folder

    def test_without_onednn(self):
        plan = self.plan("precision.compute=BF16")
        with_library, told = self.losses("with", plan, "")
        with open("/proc/cpuinfo") as info:
            words = info.read().split()
        # oneDNN's are taken where they are faster than in float32; all of this model's are large enough for either.
        self.assertEqual(told, "amx_bf16" in words or ("avx512_bf16" in words and "GenuineIntel" not in words))
        without, told = self.losses("without", plan, self.without("libdnnl.so.2"), "--threads", 2)
        self.assertFalse(told)
        self.assertEqual(len(without), STEPS)
        for a, b in zip(without, with_library):
            self.assertLess(relative(a, b), 1e-4)

    def test_without_onednn_in_float(self):
        plan = self.plan()
        with_library, _ = self.losses("with-library", plan, "")
        folder = self.without("libdnnl.so.2")
        without, _ = self.losses("plain-loops", plan, folder)
        self.assertEqual(len(without), STEPS)
        for a, b in zip(without, with_library):
            self.assertLess(relative(a, b), 1e-5)
        # One is told. Losses may be the same to the bit: both sum up a product of 64 in order.
        for path, says in ((folder, self.assertIn), ("", self.assertNotIn)):
            done = subprocess.run(command("weft-run", plan, "--data", TOKENS, "--init", WEIGHTS, "--steps", 1), text=True,
                                  capture_output=True, env={**os.environ, "LD_LIBRARY_PATH": path})
            says("expected oneDNN's functions, got a library that lacks some; "
                 "small float32 matrices are multiplied by plain loops, slowly", done.stderr)


if __name__ == "__main__":
    main()
