#!/usr/bin/env python3
"""bfloat16 products without the libraries that weft-run opens for them: other code, the same losses."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, "tests/support")
from programs import TOKENS, WEIGHTS, ProgramTest, command, losses, main, relative  # noqa: E402

EMPTY = "/lib/x86_64-linux-gnu/libdl.so.2"  # a library that has nothing of theirs
STEPS = 5


class LibrariesTest(ProgramTest):
    def losses(self, name, folder, *flags):
        plan = self.plan("precision.compute=BF16")
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "DNNL_VERBOSE": "1"}
        done = subprocess.run(command("weft-run", plan, "--data", TOKENS, "--init", WEIGHTS, "--steps", STEPS, "--quiet",
                                      "--metrics", self.path(name), *flags), capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        return losses(self.path(name)), "onednn_verbose,info" in done.stdout

    def test_without_onednn_and_libgomp(self):
        with_library, told = self.losses("with", "")
        self.assertTrue(told)  # oneDNN was asked
        os.mkdir(self.path("empty"))
        for name in ("libdnnl.so.2", "libgomp.so.1"):
            shutil.copyfile(EMPTY, self.path("empty/" + name))
        without, told = self.losses("without", self.path("empty"), "--threads", 2)
        self.assertFalse(told)
        self.assertEqual(len(without), STEPS)
        for a, b in zip(without, with_library):
            self.assertLess(relative(a, b), 1e-4)


if __name__ == "__main__":
    main()
