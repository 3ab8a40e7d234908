#!/bin/bash
# Runs $2... as $1 processes of one job on this machine, however few its cores.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset XML_OUTPUT_FILE
# Jobs are told apart by the number of mpirun's process, and those of sandboxes side
# by side are the same: each gets folders of its own, with short names as sockets want.
export TMPDIR
TMPDIR=$(mktemp -d /tmp/mpi.XXXXXX)
memory=$(mktemp -d /dev/shm/mpi.XXXXXX 2>/dev/null || echo "$TMPDIR")
trap 'rm -rf "$TMPDIR" "$memory"' EXIT
ranks=$1
shift
mpirun --oversubscribe --bind-to none --mca pml ob1 --mca btl self,vader --mca btl_vader_backing_directory "$memory" \
  -n "$ranks" "$@"
