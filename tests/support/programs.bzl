"""Tests that see Weft from outside: Python scripts that run its programs."""

def program_test(name, src, data = [], args = [], **kwargs):
    """A script of the standard library's Python, run in the runfiles with tests/support/programs.py.

    Args:
      name: the test.
      src: the script.
      data: files that it reads beside the models, clusters and programs.
      args: what it is called with.
      **kwargs: passed to the sh_test.
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["//tests/checkpoint:run_python.sh"],
        args = ["$(location %s)" % src] + args,
        data = data + [
            src,
            "//clusters",
            "//models",
            "//tests/checkpoint:read_safetensors.py",
            "//tests/oracle:data",
            "//tests/support:programs.py",
            "//tools/calibrate:weft-calibrate",
            "//tools/compare:weft-plan-compare",
            "//tools/compile:weft-compile",
            "//tools/export:weft-export",
            "//tools/generate:weft-generate",
            "//tools/import:weft-import",
            "//tools/plan:weft-plan",
            "//tools/run:weft-run",
            "//tools/watch:weft-watch",
            "//tools/weft",
        ],
        # The compiler links MLIR.
        tags = ["no-sanitizer"],
        **kwargs
    )
