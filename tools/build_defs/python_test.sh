#!/bin/bash
# python_test.sh <file.py> [argument]...: runs a file of unittest classes with the system's Python. Its modules come
# from the runfiles tree: -P keeps Python from following the file's symbolic link to look beside its target.
PYTHONPATH="$(dirname "$1")" exec /usr/bin/python3 -B -P "$@"
