# The one lit configuration; lit.sh copies it above the test it runs.
import os

import lit.formats

config.name = "weft"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.environ["TEST_TMPDIR"], "out")
config.environment["PATH"] = os.path.join(os.environ["TEST_TMPDIR"], "bin") + ":" + os.environ["PATH"]
