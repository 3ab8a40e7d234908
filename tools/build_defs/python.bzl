"""python_test: a unittest file run by the system's Python (Bazel 4's py_test wants a `python` that Debian lacks)."""

def python_test(name, src, data = [], size = "small", tags = [], **kwargs):
    """Declares the test `name`, which runs in the runfiles tree with the folder of `src` on Python's path.

    Args:
      name: of the test.
      src: a file of unittest classes.
      data: the modules it imports and the files it reads.
      size: of the test.
      tags: of the test; no Python runs under a sanitizer.
      **kwargs: passed to sh_test.
    """
    native.sh_test(
        name = name,
        srcs = ["//tools/build_defs:python_test.sh"],
        args = ["$(rootpath %s)" % src],
        data = [src] + data,
        size = size,
        tags = tags + ["no-sanitizer"],
        **kwargs
    )
