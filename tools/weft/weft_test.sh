#!/bin/bash
# The dispatcher finds programs beside itself, hands over arguments and status.
set -u
folder="$TEST_TMPDIR/bin dir"
mkdir -p "$folder"
cp -L "$1" "$folder/weft"
cp -L "$2" "$folder/weft-plan"
failures=0

# expect STATUS TEXT COMMAND...: the command ends with STATUS and prints TEXT.
expect() {
  local status="$1" text="$2" output got
  shift 2
  output="$("$@" 2>&1)"
  got=$?
  if [ "$got" != "$status" ] || [[ "$output" != *"$text"* ]]; then
    echo "FAILED: $*: expected status $status and \`$text\`, got $got and: $output"
    failures=$((failures + 1))
  fi
}

expect 0 "usage: weft COMMAND" "$folder/weft" --help
expect 0 "weft run gpt2.plan" "$folder/weft" help
expect 2 "expected a command: compile, run, generate, launch, watch, plan, import, export, calibrate, fmt, lsp or opt" "$folder/weft"
expect 2 'unknown command `tune`' "$folder/weft" tune x
expect 2 'unknown command `../plan`' "$folder/weft" ../plan
expect 1 "weft: weft-run: expected beside weft in" "$folder/weft" run x.plan

# The real weft-plan, through a link elsewhere: the folder is that of the program.
ln -sf "$folder/weft" "$TEST_TMPDIR/linked"
expect 0 "weft-plan show PLAN" "$TEST_TMPDIR/linked" plan --help
expect 2 "weft-plan: x: cannot be opened" "$folder/weft" plan timeline x

# It compiles, so it is a program of its own.
expect 1 "weft: weft-plan-compare: expected beside weft in" "$folder/weft" plan compare a.job
expect 2 "compare: expected weft plan compare, or weft-plan-compare" "$folder/weft-plan" compare a.job
printf '#!/bin/bash\nprintf "<%%s>" "$@"\nexit 5\n' >"$folder/weft-plan-compare"
chmod +x "$folder/weft-plan-compare"
expect 5 "<a.job><dist.data=2 zero.stage=1><>" "$folder/weft" plan compare a.job "dist.data=2 zero.stage=1" ""

# Arguments and exit status pass unchanged.
cat >"$folder/weft-run" <<'SCRIPT'
#!/bin/bash
printf '<%s>' "$@"
exit 7
SCRIPT
chmod +x "$folder/weft-run"
expect 7 '<a b><--steps=3><>' "$folder/weft" run "a b" --steps=3 ""
chmod -x "$folder/weft-run"
expect 1 "weft-run: cannot be run: Permission denied" "$folder/weft" run

# In a build tree the programs lie in folders of their own.
mkdir -p "$TEST_TMPDIR/tools/weft" "$TEST_TMPDIR/tools/plan"
cp -L "$1" "$TEST_TMPDIR/tools/weft/weft"
cp -L "$2" "$TEST_TMPDIR/tools/plan/weft-plan"
mkdir -p "$TEST_TMPDIR/tools/compare"
cp "$folder/weft-plan-compare" "$TEST_TMPDIR/tools/compare/weft-plan-compare"
expect 5 "<b.job>" "$TEST_TMPDIR/tools/weft/weft" plan compare b.job
expect 0 "weft-plan show PLAN" "$TEST_TMPDIR/tools/weft/weft" plan help
exit $((failures > 0))
