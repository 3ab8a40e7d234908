"""@cuda: the local CUDA toolkit when there is one ($CUDA_HOME, else /usr/local/cuda), else stubs."""
_BUILD = """
package(default_visibility = ["//visibility:public"])
cc_library(name = "headers", hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/**", "include/nv/**", "include/nv/**/*", "include/cccl/nv/**"], allow_empty = True), includes = {inc})
cc_library(name = "cudart_static", linkopts = {cudart}, deps = [":headers"])
cc_library(name = "cublaslt", linkopts = {cublaslt}, deps = [":headers"])
cc_library(name = "nccl", linkopts = {nccl}, deps = [":headers"])
cc_library(name = "have_cuda", defines = ["WEFT_WITH_CUDA={have}"])
"""
_DEFS = """
CUDA_AVAILABLE = {have}
CUDA_ROOT = {root}
CUDA_VERSION = {version}
def if_cuda(yes, no = []):
    return yes if CUDA_AVAILABLE else no
"""

def _impl(ctx):
    root = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    have = ctx.os.environ.get("WEFT_CUDA", "auto") != "0" and ctx.path(root + "/bin/nvcc").exists
    if ctx.os.environ.get("WEFT_CUDA", "auto") == "1" and not have:
        fail("WEFT_CUDA=1 but no nvcc under " + root)
    lib = root + "/lib64"
    version = ""
    if have:
        ctx.symlink(root + "/include", "include")
        out = ctx.execute([root + "/bin/nvcc", "--version"]).stdout
        version = out.split("release ")[1].split(",")[0]
    ctx.file("BUILD", _BUILD.format(
        inc = repr(["include", "include/cccl"] if have else []), have = 1 if have else 0,
        cudart = repr(["-L" + lib, "-lcudart_static", "-ldl", "-lrt", "-lpthread"] if have else []),
        cublaslt = repr(["-L" + lib, "-Wl,-rpath," + lib, "-lcublasLt"] if have else []),
        nccl = repr(["-L" + lib, "-Wl,-rpath," + lib, "-lnccl"] if have else []),
    ))
    ctx.file("defs.bzl", _DEFS.format(have = have, root = repr(root), version = repr(version)))

cuda_configure = repository_rule(implementation = _impl, local = True, environ = ["CUDA_HOME", "WEFT_CUDA"])
