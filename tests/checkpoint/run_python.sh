#!/bin/sh
# Runs a script of the standard library's Python: script, then its arguments.
exec python3 -B "$@"
