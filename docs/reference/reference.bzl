"""reference_page: a generated page of the reference, below generated/ in the build tree."""

def reference_page(name, script, args, srcs = []):
    """Declares `name`, which writes generated/<name>.md with a script of generate/.

    Args:
      name: the page's path below docs/reference, without .md.
      script: the file of generate/ that prints it.
      args: its arguments, with $(location) of srcs.
      srcs: files it reads and programs it runs. (A genrule's `tools` would be built a second time, for the host.)
    """
    native.genrule(
        name = name,
        srcs = ["generate/" + script, "generate/markdown.py"] + srcs,
        outs = ["generated/" + name + ".md"],
        cmd = "/usr/bin/python3 -B $(location generate/%s) %s > $@" % (script, " ".join(["'%s'" % arg for arg in args])),
    )

def ods_page(name, title, td_file, deps, generator = "gen-op-doc", dialect = ""):
    """A page from ODS: `td_file` is a path from the root, `deps` the td libraries that hold it and what it includes."""
    reference_page(
        name = name,
        script = "ods_page.py",
        srcs = deps + ["@llvm//:bin/mlir-tblgen"],
        args = ["--title", title, "--tblgen", "$(location @llvm//:bin/mlir-tblgen)", "--generator", generator] +
               (["--dialect", dialect] if dialect else []) + [td_file],
    )
