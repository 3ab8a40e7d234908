// Hints for loops that the compiler is to vectorise.
#ifndef WEFT_OPS_ABI_VECTORIZE_H_
#define WEFT_OPS_ABI_VECTORIZE_H_

// Before a loop: no iteration reads what another one writes. True of
// element-wise loops even when an operand is updated in place (one address in
// inputs and outputs), which a run-time overlap check would send down the
// scalar path. clang warns of such a loop that it could not vectorise, except
// where a sanitizer keeps it from that anyway.
#if !defined(__clang__)
#define WEFT_INDEPENDENT _Pragma("GCC ivdep")
#elif __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEFT_INDEPENDENT
#else
#define WEFT_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#endif

#endif  // WEFT_OPS_ABI_VECTORIZE_H_
