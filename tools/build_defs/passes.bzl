"""compiler_passes: the passes of one phase: Passes.td, passes.h, one .cc a pass, lit tests in test/."""

load("//tools/build_defs:lit.bzl", "lit_tests")
load("//tools/build_defs:pch.bzl", "mlir_cc_library")
load("//tools/build_defs:tblgen.bzl", "gentbl_cc_library")

def compiler_passes(name, phase, deps):
    """Declares :<name> from Passes.td, passes.h and all .cc files, and :lit from test/.

    Args:
      name: the target, usually the phase.
      phase: the registration function is register<phase>Passes.
      deps: what the passes use.
    """
    gentbl_cc_library(
        name = "inc",
        td_file = "Passes.td",
        tbl_outs = [
            (["-gen-pass-decls", "-name=" + phase], "Passes.h.inc"),
            (["-gen-pass-doc"], "passes.md"),
        ],
    )
    mlir_cc_library(
        name = name,
        srcs = native.glob(["*.cc"], exclude = ["*_test.cc"]),
        hdrs = native.glob(["*.h"]),
        deps = deps + [":inc"],
    )
    lit_tests(
        name = "lit",
        srcs = native.glob(["test/*.mlir"]),
        data = native.glob(["test/files/*"], allow_empty = True),
    )
