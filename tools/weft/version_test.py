#!/usr/bin/env python3
"""Every program says what it was built from, and all say the same."""
import subprocess
import unittest

PROGRAMS = ("tools/weft/weft", "tools/compile/weft-compile", "tools/run/weft-run", "tools/launch/weft-launch",
            "tools/plan/weft-plan", "tools/compare/weft-plan-compare", "tools/calibrate/weft-calibrate",
            "tools/opt/weft-opt", "tools/import/weft-import", "tools/export/weft-export",
            "tools/generate/weft-generate", "tools/watch/weft-watch", "tools/fmt/weft-fmt",
            "tools/lsp/weft-lsp")


class VersionTest(unittest.TestCase):
    def test_every_program_says_it(self):
        texts = set()
        for program in PROGRAMS:
            result = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
            self.assertEqual((result.returncode, result.stderr), (0, ""), program)
            name, version = result.stdout.split(" ", 1)
            self.assertEqual(name, program.rpartition("/")[2])
            texts.add(version)
        self.assertEqual(len(texts), 1, texts)
        self.assertRegex(texts.pop(), r"\A\d+\.\d+\.\d+\n  commit  \S+\n  LLVM    \d+\.\S+\n  CUDA    (none|\d+\.\d+)\n\Z")

    def test_a_full_disk_is_said(self):
        for program in ("tools/weft/weft", "tools/fmt/weft-fmt", "tools/lsp/weft-lsp"):
            for flag in ("--help", "-h", "--version"):
                with open("/dev/full", "w", encoding="utf-8") as full:
                    result = subprocess.run([program, flag], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((result.returncode, result.stderr), (
                    1, program.rpartition("/")[2] + ": standard output: cannot be written: No space left on device\n"))

    def test_the_dispatcher_hands_it_on(self):
        result = subprocess.run(["tools/weft/weft", "plan", "--version"], capture_output=True, text=True, timeout=60)
        self.assertRegex(result.stdout, r"\Aweft-plan \d")
        result = subprocess.run(["tools/weft/weft", "plan", "compare", "--version"], capture_output=True, text=True,
                                timeout=60)
        self.assertRegex(result.stdout, r"\Aweft-plan-compare \d")


if __name__ == "__main__":
    unittest.main()
