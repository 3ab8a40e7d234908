#!/usr/bin/env python3
"""The GPU code that weft-run carries: for each module of kernels machine code of sm_80 and of sm_90, and PTX for what comes
later. By the headers of its fat binaries, and by cuobjdump where that is."""
import re
import runpy
import shutil
import struct
import subprocess
import tempfile
import unittest

PROGRAM = "tools/run/weft-run"
MAGIC = struct.pack("<I", 0xba55ed50)
HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of what follows it
# kind, attributes, bytes of this header, bytes of the code, (compressed bytes, 0, minor and major version), architecture
ENTRY = struct.Struct("<HHIQQHHI")
KINDS = {1: "compute", 2: "sm"}  # PTX, machine code
EXPECTED = ["sm_80", "sm_90", "compute_90"]


def fat_binaries(program):
    """[(bytes, names of its codes)], in the order of the file."""
    found, at = [], program.find(MAGIC)
    while at >= 0:
        _, version, header, size = HEADER.unpack_from(program, at)
        if version == 1 and header == HEADER.size and at + header + size <= len(program):
            whole = program[at:at + header + size]
            found.append((whole, codes(whole)))
        at = program.find(MAGIC, at + 4)
    return found


def codes(fat_binary):
    names, at = [], HEADER.size
    while at < len(fat_binary):
        kind, _, header, size, _, _, _, architecture = ENTRY.unpack_from(fat_binary, at)
        names.append("%s_%d" % (KINDS[kind], architecture))
        at += header + size
    return names


class CodeObjectsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with open(PROGRAM, "rb") as file:
            cls.found = fat_binaries(file.read())

    def test_every_module_is_there_for_every_gpu(self):
        families = runpy.run_path("ops/families.bzl")["WRITTEN"]
        self.assertEqual(len(self.found), len(families) + 1)  # and the moves between virtual ranks
        for _, names in self.found:
            self.assertEqual(names, EXPECTED)

    @unittest.skipIf(shutil.which("cuobjdump") is None, "no cuobjdump")
    def test_cuobjdump_says_the_same(self):
        for whole, names in self.found:
            with tempfile.NamedTemporaryFile(suffix=".fatbin") as file:
                file.write(whole)
                file.flush()
                said = "".join(subprocess.run(["cuobjdump", flag, file.name], check=True, capture_output=True, text=True).stdout
                               for flag in ("--list-elf", "--list-ptx"))
            listed = re.findall(r"\.(sm_\d+)\.(cubin|ptx)$", said, re.M)
            self.assertEqual([name if kind == "cubin" else name.replace("sm", "compute") for name, kind in listed], names)


if __name__ == "__main__":
    unittest.main()
