"""Programs that run on another machine: they link nothing but libc."""

# C++'s library is named before the toolchain names the shared one, which is then not needed.
SELF_CONTAINED = [
    "-static-libgcc",
    "-Wl,--as-needed",
    "-l:libstdc++.a",
]
