#!/bin/bash
# emulation_test.sh PROGRAM LIBRARY: weft-gpu-kernels on the emulated GPU, and what it says without one.
set -euo pipefail
libraries=$(mktemp -d "$TEST_TMPDIR/libraries.XXXXXX")
for name in libcuda.so.1 libcublasLt.so.13 libcudnn.so.9 libnccl.so.2; do ln -s "$(realpath "$2")" "$libraries/$name"; done

if [ -z "$(ldconfig -p 2>/dev/null | grep libcuda.so.1 || true)" ]; then
  status=0
  said=$("$1" 2>&1) || status=$?
  [ "$status" = 3 ] && [[ "$said" == *"expected an NVIDIA driver, found no libcuda.so.1"* ]] ||
    { echo "without a driver: expected status 3 and its reason, got $status: $said"; exit 1; }
fi

export LD_LIBRARY_PATH=$libraries
unset XML_OUTPUT_FILE GTEST_OUTPUT TEST_TOTAL_SHARDS TEST_SHARD_INDEX
"$1" --cuda-libs "$libraries" --gtest_filter="-Shapes/*"
"$1" --own-kernels --gtest_filter="Einsum*:Small/*einsum*"
