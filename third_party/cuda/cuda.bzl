"""@cuda: the CUDA toolkit of this machine ($CUDA_HOME, else /usr/local/cuda), or nothing.

WEFT_CUDA=0 builds as if there were none, WEFT_CUDA=1 fails without one; both by --repo_env.
"""
_BUILD = """
package(default_visibility = ["//visibility:public"])
# For what checks our declarations against the vendor's: nothing links the toolkit.
cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/**", "include/cccl/nv/**", "include/nccl_device/**"], allow_empty = True),
    includes = {includes},
    defines = ["HAVE_CUDA={have}"],
)
"""
_DEFS = """
HAVE_CUDA = {have}
CUDA_ROOT = {root}
CUDA_VERSION = {version}
"""

def _impl(ctx):
    root = ctx.os.environ.get("CUDA_HOME", "/usr/local/cuda")
    wish = ctx.os.environ.get("WEFT_CUDA", "auto")
    have = wish != "0" and ctx.path(root + "/bin/nvcc").exists
    if wish == "1" and not have:
        fail("WEFT_CUDA=1: no nvcc under %s" % root)
    version = ""
    if have:
        ctx.symlink(root + "/include", "include")
        version = ctx.execute([root + "/bin/nvcc", "--version"]).stdout.split("release ")[1].split(",")[0]
    ctx.file("BUILD", _BUILD.format(includes = repr(["include", "include/cccl"] if have else []), have = 1 if have else 0))
    ctx.file("defs.bzl", _DEFS.format(have = have, root = repr(root), version = repr(version)))

cuda_configure = repository_rule(implementation = _impl, local = True, environ = ["CUDA_HOME", "WEFT_CUDA"])
