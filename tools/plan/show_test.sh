#!/bin/bash
# The listings of the corpus are those of test/*.txt: their first line says which
# plan and how, FileCheck compares the rest. $1: encode, $2: weft-plan.
set -u
encode="$1" weft_plan="$2"
filecheck="$PWD/../llvm/bin/FileCheck"
failures=0
for check in tools/plan/test/*.txt; do
  read -r _ command plan flags <"$check"
  "$encode" "tests/plans/$plan.txtpb" "$TEST_TMPDIR/$plan.plan" || exit 1
  # shellcheck disable=SC2086
  "$weft_plan" "$command" "$TEST_TMPDIR/$plan.plan" $flags >"$TEST_TMPDIR/output" || failures=$((failures + 1))
  "$filecheck" --match-full-lines --strict-whitespace "$check" <"$TEST_TMPDIR/output" || failures=$((failures + 1))
  # shellcheck disable=SC2086
  said=$("$weft_plan" "$command" "$TEST_TMPDIR/$plan.plan" $flags 2>&1 >/dev/full)
  if [ $? != 1 ] || [[ $said != "weft-plan: standard output: No space left on device" ]]; then
    echo "FAILED: $command: expected status 1 where standard output is full, got: $said"
    failures=$((failures + 1))
  fi
done
exit $((failures > 0))
