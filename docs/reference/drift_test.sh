#!/bin/bash
# drift_test.sh PAGE...: the pages that were generated and the pages that are checked in are the same, and as many.
set -u
reference=docs/reference
drifted=0
for page in "$@"; do
  checked_in="$reference/${page#*/generated/}"
  if ! diff -u "$checked_in" "$page"; then
    echo "$checked_in: expected what the sources say; run tools/docs"
    drifted=1
  fi
done
while read -r checked_in; do
  case " $* " in
    *"/generated/${checked_in#"$reference/"} "*) ;;
    *) echo "$checked_in: expected a page that is generated; remove it or add it to $reference/BUILD"; drifted=1 ;;
  esac
done < <(find "$reference" -name '*.md' -not -path '*/generated/*')
exit "$drifted"
