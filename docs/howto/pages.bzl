"""Pages of which a test does what they tell the reader to type: docs/howto/howto_test.py."""

PROGRAMS = [
    "//tools/calibrate:weft-calibrate",
    "//tools/compare:weft-plan-compare",
    "//tools/compile:weft-compile",
    "//tools/export:weft-export",
    "//tools/fmt:weft-fmt",
    "//tools/generate:weft-generate",
    "//tools/import:weft-import",
    "//tools/launch:weft-launch",
    "//tools/lsp:weft-lsp",
    "//tools/opt:weft-opt",
    "//tools/plan:weft-plan",
    "//tools/run:weft-run",
    "//tools/watch:weft-watch",
    "//tools/weft",
]

def page_test(page, size = "medium"):
    """Declares the test of a page of this package.

    Args:
      page: its name without ".md".
      size: of the test.
    """
    native.sh_test(
        name = page + "_test",
        size = size,
        srcs = ["//tools/build_defs:python_test.sh"],
        args = [
            "$(rootpath //docs/howto:howto_test.py)",
            "$(rootpath %s.md)" % page,
            "$(rootpath //tools:bert_records)",
            "$(rootpath //tools:tokenize)",
            "$(rootpaths //tests/hugging_face:gpt2)",
            "--programs",
        ] + ["$(rootpath %s)" % program for program in PROGRAMS],
        data = [
            page + ".md",
            "//docs/howto:howto_test.py",
            "//models",
            "//tests/hugging_face:gpt2",
            "//tools:bert_records",
            "//tools:tokenize",
        ] + PROGRAMS,
        tags = ["no-sanitizer"],
    )
