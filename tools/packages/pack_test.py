#!/usr/bin/env python3
"""Packages: the same bytes twice, all that is needed and nothing else, and what they hold runs."""
import base64
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from unittest import mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import pack  # noqa: E402
import tree  # noqa: E402

PROGRAMS = ["tools/weft/weft", "tools/compile/weft-compile", "tools/run/weft-run"]
EPOCH = 1700000000
# Of a shell: nothing of the caller's environment.
BARE = {"PATH": "/nonexistent", "HOME": "/nonexistent"}


def content(path):
    with open(path, "rb") as file:
        return file.read()


class PackTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def checkout(self, name):
        for file in ("LICENSE", "CHANGELOG.md", "models/a.mlir", "python/weft/__init__.py", "python/pyproject.toml",
                     "share/bash-completion/completions/weft", "share/man/man1/weft-run.1", "share/zsh/site-functions/_weft"):
            self.write(f"{name}/{file}", f"{file}\n")
        return self.path(name)

    def small(self, name):
        """The three packages of two scripts, with the files in an order and at times of their own."""
        programs = [self.write(f"{name}-bin/{program}", f"#!/bin/sh\necho {program} $*\n", 0o755)
                    for program in (("weft", "weft-run") if name == "a" else ("weft-run", "weft"))]
        with mock.patch.object(tree, "libraries", return_value={}):
            return pack.pack(programs, self.checkout(name), "1.2.3", EPOCH, self.path(name + "-out"))

    def test_the_same_bytes_twice(self):
        first = self.small("a")
        for at, _, names in os.walk(self.path("a")):
            for name in names:
                os.utime(os.path.join(at, name), (1, 1))
        second = self.small("b")
        self.assertEqual([os.path.basename(path) for path in first],
                         ["weft-1.2.3-linux-x86_64.tar.gz", "weft_1.2.3_amd64.deb",
                          "weft-1.2.3-py3-none-manylinux_2_36_x86_64.whl"])
        for one, other in zip(first, second):
            self.assertEqual(content(one), content(other), one)
        self.assertEqual(sorted(os.listdir(self.path("a-out"))), sorted(map(os.path.basename, first)))

    def test_the_tarball(self):
        with tarfile.open(self.small("a")[0]) as archive:
            members = {it.name: it for it in archive.getmembers()}
        self.assertEqual(sorted(members)[:3], ["weft-1.2.3-linux-x86_64/" + it for it in ("CHANGELOG.md", "LICENSE", "bin/weft")])
        self.assertEqual(members["weft-1.2.3-linux-x86_64/bin/weft"].mode, 0o755)
        self.assertEqual({(it.mtime, it.uid, it.uname) for it in members.values()}, {(EPOCH, 0, "root")})

    def test_the_debian_package(self):
        package = self.small("a")[1]
        fields = subprocess.run(["dpkg-deb", "-f", package], check=True, capture_output=True, text=True).stdout
        self.assertIn("Version: 1.2.3\nArchitecture: amd64\n", fields)
        self.assertIn("Depends: libc6 (>= 2.36)\n", fields)
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = {it.name: it for it in archive.getmembers()}
        links = {"bin/weft": "bin/weft", "share/bash-completion/completions/weft-run": "share/bash-completion/completions/weft",
                 "share/man/man1/weft-run.1": "share/man/man1/weft-run.1",
                 "share/zsh/vendor-completions/_weft": "share/zsh/site-functions/_weft"}
        for link, below in links.items():
            found = os.path.normpath(os.path.join("./usr", os.path.dirname(link), members["./usr/" + link].linkname))
            self.assertEqual(found, "usr/lib/weft/" + below)
            self.assertIn("./" + found, members)
        self.assertEqual({(it.mtime, it.uid) for it in members.values()}, {(EPOCH, 0)})

    def test_the_wheel(self):
        installed = self.path("installed")
        with zipfile.ZipFile(self.small("a")[2]) as wheel:
            record = [line.split(",") for line in wheel.read("weft-1.2.3.dist-info/RECORD").decode().splitlines()]
            self.assertEqual(sorted(it[0] for it in record), sorted(wheel.namelist()))
            for name, digest, size in record:
                if not digest:
                    continue
                made = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), ("sha256=" + made, len(wheel.read(name))), name)
            self.assertEqual(wheel.getinfo("weft_programs/bin/weft").external_attr >> 16 & 0o777, 0o755)
            # The package is importable as `weft`; how it is built stays out.
            self.assertIn("weft/__init__.py", wheel.namelist())
            self.assertNotIn("weft_programs/python/pyproject.toml", wheel.namelist())
            self.assertIn("weft-1.2.3.data/data/share/man/man1/weft-run.1", wheel.namelist())
            wheel.extractall(installed)
        os.chmod(os.path.join(installed, "weft_programs/bin/weft-run"), 0o755)  # pip does
        script = os.path.join(installed, "weft-1.2.3.data/scripts/weft-run")
        done = subprocess.run([sys.executable, script, "a", "b"], capture_output=True, text=True,
                              env={"PYTHONPATH": installed, "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.stdout, done.stderr), ("weft-run a b\n", ""))

    def test_what_it_holds_runs_by_itself(self):
        checkout = self.path("checkout")
        shutil.copytree("models", checkout + "/models")
        home = self.path("elsewhere/weft")
        os.makedirs(os.path.dirname(home))
        tree.make(PROGRAMS, checkout, home)
        # All that the programs and the libraries find is glibc's or beside them.
        files = [os.path.join(home, "bin", name) for name in os.listdir(home + "/bin")]
        libraries = os.listdir(home + "/lib")
        self.assertIn("libMLIR.so.19.1", libraries)
        self.assertIn("libdnnl.so.2", libraries)
        self.assertLess({"libdnnl2", "libxsmm-dev"}, set(os.listdir(home + "/licenses")))
        self.assertFalse(tree.SYSTEM & set(libraries))
        for path in files:
            shown = subprocess.run(["ldd", path], check=True, capture_output=True, text=True).stdout
            for line in shown.splitlines():
                name, _, at = line.strip().partition(" => ")
                if at and name not in tree.SYSTEM:
                    self.assertTrue(os.path.realpath(at.split(" (")[0]).startswith(os.path.realpath(home) + "/lib/"), line)
        weft = os.path.join(home, "bin", "weft")
        plan, text = self.path("a.plan"), self.write("text", "to be or not to be " * 200)

        def run(*arguments):
            done = subprocess.run([weft, *arguments], capture_output=True, text=True, env=BARE, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout + done.stderr

        run("compile", home + "/models/gpt2/tiny.job", "dist.tensor=2", "-o", plan)
        self.assertIn("2 steps in", run("run", plan, "--data", text, "--steps", "2"))

    def test_a_newer_glibc_is_refused(self):
        program = self.write("new", "a\0GLIBC_2.4\0GLIBC_2.37\0")
        with self.assertRaisesRegex(tree.Failure, "new: expected functions of glibc 2.36 at most, got 2.37"):
            tree.check_glibc(program)
        tree.check_glibc(self.write("old", "a\0GLIBC_2.4\0GLIBC_2.36\0GLIBC_PRIVATE\0"))


if __name__ == "__main__":
    unittest.main()
