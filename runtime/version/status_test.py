#!/usr/bin/env python3
"""The commit that a build stamps on programs, from the checkout to the text."""
import os
import shutil
import subprocess
import tempfile
import unittest

STATUS = "runtime/version/status"
STAMPED = "runtime/version/stamped"


class StatusTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        shutil.copy(STATUS, self.folder)
        # No checkout around the folder counts.
        self.environment = {"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": os.path.dirname(self.folder),
                            "GIT_CONFIG_GLOBAL": "/dev/null"}

    def git(self, *arguments):
        command = ["git", "-C", self.folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=self.environment).stdout.strip()

    def said(self):
        # From anywhere: Bazel chooses the working folder.
        return subprocess.run([self.folder + "/status"], check=True, capture_output=True, text=True, cwd="/",
                              env=self.environment).stdout

    def test_names_the_commit_and_changes(self):
        self.assertEqual(self.said(), "BUILD_SCM_REVISION unknown\n")
        self.git("init", "-q")
        self.assertEqual(self.said(), "BUILD_SCM_REVISION unknown\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "a")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(self.said(), f"BUILD_SCM_REVISION {commit}\n")
        with open(self.folder + "/status", "a") as file:
            file.write("# changed\n")
        self.assertEqual(self.said(), f"BUILD_SCM_REVISION {commit}+changes\n")

    def test_reaches_a_stamped_program(self):
        text = subprocess.run([STAMPED], check=True, capture_output=True, text=True).stdout
        self.assertRegex(text, r"\Aany \d+\.\d+\.\d+\n  commit  [0-9a-f]{12}(\+changes)?\n  LLVM    \d+\.\S+\n"
                               r"  CUDA    (none|\d+\.\d+)\n\Z")


if __name__ == "__main__":
    unittest.main()
