"""Programs that run on another machine."""

# Where a release has the libraries that a program links or opens (tools/packages/tree.py): before the system's, for those
# libraries' own libraries too. A build has no such folder.
BUNDLED = [
    "-Wl,--disable-new-dtags",
    "-Wl,-rpath,'$$ORIGIN/../lib'",
]

# Programs that link nothing but libc.

# C++'s library is named before the toolchain names the shared one, which is then not needed.
SELF_CONTAINED = [
    "-static-libgcc",
    "-Wl,--as-needed",
    "-l:libstdc++.a",
]
