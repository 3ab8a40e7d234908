// Hints for loops that the compiler is to vectorise.
#ifndef WEFT_OPS_ABI_VECTORIZE_H_
#define WEFT_OPS_ABI_VECTORIZE_H_

// Before a loop: no iteration reads what another one writes. True of
// element-wise loops even when an operand is updated in place (one address in
// inputs and outputs), which a run-time overlap check would send down the
// scalar path.
#if defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")
#endif

#endif  // WEFT_OPS_ABI_VECTORIZE_H_
