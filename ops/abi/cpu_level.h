// Which level of x86-64 this CPU has (System V ABI, x86-64 psABI, section 3.1.1).
#ifndef WEFT_OPS_ABI_CPU_LEVEL_H_
#define WEFT_OPS_ABI_CPU_LEVEL_H_

namespace weft {

// AVX-512 F, BW, CD, DQ and VL. Kernels that are compiled for several levels ask once, when created.
inline bool CpuHasLevel4() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_CPU_LEVEL_H_
