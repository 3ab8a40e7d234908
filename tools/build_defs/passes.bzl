"""compiler_passes: the passes of one phase: Passes.td, one .cc a pass, lit tests in test/."""

load("//tools/build_defs:lit.bzl", "lit_tests")
load("//tools/build_defs:pch.bzl", "mlir_cc_library")
load("//tools/build_defs:tblgen.bzl", "gentbl_cc_library")

# What declares the passes of a phase, and registers them.
PASSES_H = """// The passes of Passes.td.
#ifndef WEFT_COMPILER_PASSES_{PHASE}_PASSES_H_
#define WEFT_COMPILER_PASSES_{PHASE}_PASSES_H_

#include "{dialect}"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace weft::compiler {{
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "{package}/Passes.h.inc"
}} // namespace weft::compiler

#endif
"""

def compiler_passes(name, phase, deps, dialect = "ops/dialect/weft.h"):
    """Declares :<name> from Passes.td and all .cc files, with a header passes.h, and :lit from test/.

    Args:
      name: the target, usually the phase.
      phase: the registration function is register<phase>Passes.
      deps: what the passes use.
      dialect: the header of the ops that the passes run on, which passes.h includes.
    """
    native.genrule(
        name = "passes_h",
        outs = ["passes.h"],
        cmd = "cat > $@ <<'END'\n%sEND" %
              PASSES_H.format(PHASE = phase.upper(), dialect = dialect, package = native.package_name()),
    )
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
        hdrs = native.glob(["*.h"]) + ["passes.h"],
        deps = deps + [":inc"],
    )
    lit_tests(
        name = "lit",
        srcs = native.glob(["test/*.mlir"]),
        data = native.glob(["test/files/*"], allow_empty = True),
    )
