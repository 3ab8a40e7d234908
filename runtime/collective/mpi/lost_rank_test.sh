#!/bin/bash
# When a rank ends, the others say so and end. $1: mpirun.sh, $2: world_suite.
set -u
failures=0

# The others' line, however rank 1 ends; mpirun's own words go by.
expect() {
  local output status
  # mpirun leaves the others a second before SIGTERM, which they ignore, and a
  # second more.
  output=$("$mpirun" 3 "$suite" "$1" 2>&1)
  status=$?
  for rank in 0 2; do
    if ! grep -q "^rank $rank: UNAVAILABLE: $2" <<<"$output"; then
      echo "$1: rank $rank: expected \"$2\", got:"
      echo "$output"
      failures=$((failures + 1))
    fi
  done
  if [ "$status" = 0 ]; then
    echo "$1: expected a status other than 0"
    failures=$((failures + 1))
  fi
}

mpirun=$1 suite=$2
expect killed 'rank 1 is lost: its process [0-9]* has ended'
expect failed 'rank 1 has left'

# Rank 0 has to say so before mpirun does anything: all processes live.
output=$("$mpirun" 3 "$suite" silent 2>&1)
expected='^rank 0: UNAVAILABLE: ranks 1, 2 are lost: nothing was heard of host there for 1 s;'
expected+=' rank 1 was last in act 41 of rank 1; rank 2 was last in act 42 of rank 2; rank 0 waits for a word$'
if ! grep -q "$expected" <<<"$output"; then
  echo "silent: expected \"$expected\", got:"
  echo "$output"
  failures=$((failures + 1))
fi
if ! output=$("$mpirun" 3 "$suite" vouched 2>&1); then
  echo "vouched: expected that a stopped rank is waited for, got:"
  echo "$output"
  failures=$((failures + 1))
fi
exit $((failures > 0))
