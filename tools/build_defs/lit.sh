#!/bin/bash
# lit.sh <test> --tools <program>... --data <file>...: runs lit on one file of the runfiles tree.
# lit wants its configuration above the test, and a place to write: the test and its data are copied
# under TEST_TMPDIR at their paths in the tree, and the tools linked in one folder.
set -eu
runfiles="$PWD"
suite="$TEST_TMPDIR/suite"
bin="$TEST_TMPDIR/bin"
mkdir -p "$suite" "$bin"

into=copy
for path in "$@"; do
  case "$path" in
    --tools) into=tool ;;
    --data) into=copy ;;
    *)
      # Bazel names files of other repositories external/<repository>/...
      from="$runfiles/${path/#external\//../}"
      if [ "$into" = tool ]; then
        ln -sf "$from" "$bin/"
      else
        mkdir -p "$suite/$(dirname "$path")"
        cp -L "$from" "$suite/$path"
      fi
      ;;
  esac
done
cp -L "$runfiles/tools/build_defs/lit.cfg.py" "$suite/"
exec /usr/bin/python3 "$runfiles/../llvm/lit/lit.py" -v "$suite/$1"
