"""weft-fmt from outside: what it changes, what it refuses, and that every model of the tree is laid out by it."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

PROGRAM = os.path.abspath("tools/fmt/weft-fmt")
UNTIDY = """// Doubles.
model.layer @twice (%x)   {
      %y=weft.add %x,%x     // the sum

  model.return %y   }
"""
TIDY = """// Doubles.
model.layer @twice(%x) {
  %y = weft.add %x, %x  // the sum

  model.return %y }
"""


def call(*arguments, given=None):
    done = subprocess.run([PROGRAM, *arguments], input=given, stdin=subprocess.DEVNULL if given is None else None,
                          capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class FmtTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, text):
        path = os.path.join(self.folder, "a.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_models_are_laid_out(self):
        models = glob.glob("models/**/*.mlir", recursive=True)
        self.assertGreater(len(models), 25)
        self.assertEqual(call("--check", *models), (0, "", ""))

    def test_standard_input(self):
        self.assertEqual(call(given=UNTIDY), (0, TIDY, ""))
        self.assertEqual(call("-", given=TIDY), (0, TIDY, ""))

    def test_file(self):
        path = self.write(UNTIDY)
        self.assertEqual(call("--check", path), (1, "", "weft-fmt: %s: expected the layout of weft fmt, got another\n" % path))
        self.assertEqual(self.read(path), UNTIDY)
        self.assertEqual(call(path), (0, "", ""))
        self.assertEqual(self.read(path), TIDY)
        self.assertEqual(call("--check", path), (0, "", ""))

    def test_what_does_not_parse_stays(self):
        wrong = UNTIDY.replace("weft.add", "weft.ad")
        path = self.write(wrong)
        status, out, err = call(path)
        self.assertEqual((status, out), (2, ""))
        self.assertTrue(err.startswith(path + ":3:10: error: unknown op weft.ad: expected one of weft or model"), err)
        self.assertEqual(self.read(path), wrong)
        self.assertIn("standard input:3:10: error: ", call(given=wrong)[2])

    def test_requests(self):
        self.assertEqual(call("--wrong")[0], 2)
        status, _, err = call(self.folder + "/none.mlir")
        self.assertEqual(status, 2)
        self.assertIn("none.mlir", err)


if __name__ == "__main__":
    unittest.main()
