"""op_family: the MLIR side and the CPU kernels of one family of operators."""

load("//tools/build_defs:pch.bzl", "mlir_cc_library")
load("//tools/build_defs:tblgen.bzl", "gentbl_cc_library", "td_library")

# The oldest CPU that kernels run on: AVX2 and FMA (x86-64-v3).
KERNEL_COPTS = ["-O3", "-march=x86-64-v3", "-fno-math-errno", "-fno-trapping-math"]

def op_family(name, td, ir_deps = [], kernel_srcs = ["cpu.cc"], kernel_deps = []):
    """Declares :ir (dialect extension, from ops.cc and ops.h) and :cpu (kernels, cpu.h).

    Args:
      name: the family.
      td: its .td file.
      ir_deps: other families' :ir whose ops its gradients use.
      kernel_srcs: sources of the CPU kernels; empty for a family without.
      kernel_deps: libraries its kernels use beside the ABI.
    """
    td_library(name = "td", srcs = [td], deps = ["//ops/dialect:td"])
    gentbl_cc_library(
        name = "inc",
        td_file = td,
        deps = [":td", "//ops/dialect:td"],
        tbl_outs = [
            (["-gen-op-decls"], "ops.h.inc"),
            (["-gen-op-defs"], "ops.cpp.inc"),
        ],
    )
    # The header alone, so that families may use each other's ops in gradients.
    native.cc_library(name = "ops_h", hdrs = ["ops.h"], deps = [":inc", "//ops/dialect:weft"])
    mlir_cc_library(
        name = "ir",
        srcs = ["ops.cc"],
        deps = [":ops_h", "//ops/dialect:weft"] + ir_deps,
    )
    if kernel_srcs:
        native.cc_library(
            name = "cpu",
            srcs = kernel_srcs,
            hdrs = ["cpu.h"],
            copts = KERNEL_COPTS,
            deps = ["//ops/abi", "//ops/abi:parallel"] + kernel_deps,
        )
