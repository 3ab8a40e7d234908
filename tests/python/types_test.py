"""What docs/howto/use_from_python.md names has types that mypy agrees with, in its strict way."""
import glob
import os
import subprocess
import unittest


class TypesTest(unittest.TestCase):
    def test_the_package_is_typed(self):
        # Not what importing is made of.
        modules = glob.glob("python/weft/*.py") + ["python/examples/gpt2.py"]
        self.assertGreater(len(modules), 5)
        done = subprocess.run(["/usr/bin/mypy", "--strict", "--follow-imports=silent", "--cache-dir=" + os.devnull, *modules],
                              env={**os.environ, "MYPYPATH": "python"}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)


if __name__ == "__main__":
    unittest.main()
