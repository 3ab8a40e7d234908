#!/bin/bash
# Runs lit on one test of the runfiles tree; the suite's config is tools/lit.cfg.py.
set -eu
root="$PWD"
t="$root/$1"
# lit wants the config at or above the test, in a writable place: mirror the test under TEST_TMPDIR.
mkdir -p "$TEST_TMPDIR/suite"
cp -L "$root/tools/lit.cfg.py" "$TEST_TMPDIR/suite/lit.cfg.py"
cp -L "$t" "$TEST_TMPDIR/suite/"
export WEFT_RUNFILES="$root" WEFT_PATH="$root/tool:$root/../llvm/bin"
exec /usr/bin/python3 "$root/../llvm/lit/lit.py" -sv "$TEST_TMPDIR/suite/$(basename "$t")"
