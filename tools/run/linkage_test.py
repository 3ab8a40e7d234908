#!/usr/bin/env python3
"""weft-run carries its code: it needs libc, and opens what else it uses when it uses it."""
import os
import re
import subprocess
import unittest

PROGRAM = "tools/run/weft-run"
# The parts of libc.
LIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}
NEWEST_LIBC = (2, 36)  # Debian 12's
FAT_BINARY = bytes.fromhex("50ed55ba01001000")  # how one begins


def needed(path):
    """The libraries that a program names, without those that these name."""
    text = subprocess.run(["objdump", "-p", path], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"^\s*NEEDED\s+(\S+)$", text, re.M)), re.findall(r"GLIBC_(\d+)\.(\d+)", text)


def carries_gpu_code():
    with open(PROGRAM, "rb") as file:
        return FAT_BINARY in file.read()


class LinkageTest(unittest.TestCase):
    def test_needs_libc_alone(self):
        names, versions = needed(PROGRAM)
        self.assertEqual(names - LIBC, set())
        self.assertLessEqual(max((int(a), int(b)) for a, b in versions), NEWEST_LIBC)

    def test_starts_without_anything_else(self):
        # Neither a driver nor MPI nor a library for products is where it looks.
        text = subprocess.run([PROGRAM, "--devices"], check=True, capture_output=True, text=True,
                              env={"LD_LIBRARY_PATH": "/nowhere"}).stdout
        lines = text.splitlines()
        self.assertRegex(lines[0], r"^cpu: \d+ cores$")
        self.assertRegex(lines[1], r"^libxsmm \S+ for \S+ for large products$")
        self.assertRegex(lines[2], r"^oneDNN \S+ for \S+$|; small float32 matrices are multiplied by plain loops, slowly$")
        self.assertRegex(text, r"(?m)^CUDA(:| driver) ")
        # A build without a toolkit (WEFT_CUDA=0) says so.
        self.assertEqual("was built without a CUDA toolkit and has no code for GPUs" in text, not carries_gpu_code())
        self.assertRegex(text, r"(?m)^cuBLASLt")
        self.assertRegex(text, r"(?m)^cuDNN")
        self.assertRegex(text, r"(?m)^NCCL")

    def test_another_program_is_told_apart(self):
        names, _ = needed(os.path.realpath("/usr/bin/python3"))
        self.assertNotEqual(names - LIBC, set())


if __name__ == "__main__":
    unittest.main()
