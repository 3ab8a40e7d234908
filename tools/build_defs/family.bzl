"""op_family: the MLIR side, the CPU and the GPU kernels of one family of operators."""

load("//tools/build_defs:cuda.bzl", "cuda_kernels")
load("//tools/build_defs:lit.bzl", "lit_tests")
load("//tools/build_defs:pch.bzl", "mlir_cc_library")
load("//tools/build_defs:tblgen.bzl", "gentbl_cc_library", "td_library")

# The oldest CPU that kernels run on: AVX2 and FMA (x86-64-v3).
KERNEL_COPTS = ["-O3", "-march=x86-64-v3", "-fno-math-errno", "-fno-trapping-math"]

# What is added for one level of x86-64; the level that runs is asked for at run time.
LEVEL_COPTS = {
    "v3": [],
    "v4": [
        "-march=x86-64-v4",
        "-mprefer-vector-width=512",
    ],
}

def level_libraries(name, srcs, hdrs, deps):
    """Declares a library :<name>_<level> for each level, compiled with -DWEFT_LEVEL=<level>."""
    for level, copts in LEVEL_COPTS.items():
        native.cc_library(
            name = name + "_" + level,
            srcs = srcs,
            hdrs = hdrs,
            copts = KERNEL_COPTS + copts + ["-DWEFT_LEVEL=" + level],
            visibility = ["//visibility:private"],
            deps = deps,
        )

def op_family(name, ir_deps = [], kernel_deps = [], shared_deps = [], code_deps = [], test_deps = []):
    """Declares :ir (dialect extension, from <name>.td, ops.cc and ops.h), :cells (what its operators compute, cells.cc), :cpu (kernels, cpu*.cc),
    :cuda (the host's side of the GPU kernels, cuda*.cc), :cuda_code (cuda.cu and its parts cuda_code_*.h, as
    tools/build_defs/cuda.bzl says),
    :lit (test/*.mlir) and a test for every cpu*_test.cc and cuda*_test.cc, and generated*_test.cc of generated kernels.

    Args:
      name: the family, which is also its folder and the stem of its .td file.
      ir_deps: other families' :ops_h whose ops its gradients use.
      kernel_deps: libraries its CPU kernels use beside the ABI.
      shared_deps: libraries that CPU kernels and the host's side of GPU kernels use.
      code_deps: libraries that CPU kernels, cuda_arguments.h and cuda.cu use: headers that nvcc compiles.
      test_deps: libraries that its tests of kernels use.
    """
    if native.glob(["ops.cc"]):
        td_library(name = "td", srcs = [name + ".td"], deps = ["//ops/dialect:td"])
        gentbl_cc_library(
            name = "inc",
            td_file = name + ".td",
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
            srcs = native.glob(["ops*.cc"]),
            deps = [":ops_h", "//ops/dialect:weft"] + ir_deps,
        )
        lit_tests(name = "lit", srcs = native.glob(["test/*.mlir"]))
    if native.glob(["cells.cc"]):
        mlir_cc_library(name = "cells", srcs = ["cells.cc"], deps = ["//ops:cell_families"])
    if native.glob(["cpu.cc"]):
        native.cc_library(
            name = "cpu",
            srcs = native.glob(["cpu*.cc"], exclude = ["*_test.cc"]),
            hdrs = native.glob(["cpu*.h"]),
            copts = KERNEL_COPTS,
            deps = ["//ops:families", "//ops/abi", "//ops/abi:parallel"] + kernel_deps + shared_deps + code_deps,
        )
    for test in native.glob(["generated*_test.cc"]):
        native.cc_test(
            name = test[:-3],
            srcs = [test],
            tags = ["no-sanitizer"],
            deps = ([":cpu", "//ops:families"] if native.glob(["cpu.cc"]) else []) + [
                "//ops/abi",
                "//tests/emulation/simt:gpu_testing",
                "//tests/support:generated",
                "//tests/support:kernel_testing",
                "@sys//:gtest_main",
            ] + test_deps,
        )
    for test in native.glob(["cpu*_test.cc"]):
        native.cc_test(
            name = test[:-3],
            srcs = [test],
            deps = [
                ":cpu",
                "//ops/abi",
                "//tests/support:kernel_testing",
                "//ops/abi:parallel",
                "@sys//:gtest_main",
            ] + test_deps,
        )
    if native.glob(["cuda.cu"]):
        # Arguments, which both sides of a launch know.
        native.cc_library(
            name = "cuda_arguments",
            hdrs = native.glob(["cuda_arguments.h"]),
            deps = ["//ops/abi"] + code_deps,
        )

        # Parts of cuda.cu.
        native.cc_library(name = "cuda_code_h", textual_hdrs = native.glob(["cuda_code_*.h"]))
        cuda_kernels(name = "cuda_code", module = name, deps = [":cuda_arguments", ":cuda_code_h"] + code_deps)
        native.cc_library(
            name = "cuda",
            srcs = native.glob(["cuda*.cc"], exclude = ["*_test.cc"]),
            hdrs = native.glob(["cuda*.h"], exclude = ["cuda_arguments.h", "cuda_code_*.h"]),
            deps = [":cuda_arguments", "//ops:families", "//ops/abi"] + shared_deps,
        )
    for test in native.glob(["cuda*_test.cc"]):
        # As a library for the program that runs these tests on a GPU.
        native.cc_library(
            name = test[:-3] + "s",
            testonly = True,
            srcs = [test],
            alwayslink = True,
            visibility = ["//tests/cuda:__subpackages__"],
            deps = [
                ":cpu",
                ":cuda",
                ":cuda_code_emulated",
                "//ops/abi",
                "//tests/support:kernel_testing",
                "//tests/emulation/simt:gpu_testing",
                "@sys//:gtest_main",
            ] + test_deps,
        )
        native.cc_test(name = test[:-3], deps = [":" + test[:-3] + "s"])
