// The processors that generated kernels are compiled for.
#ifndef WEFT_RUNTIME_CODE_LEVELS_H_
#define WEFT_RUNTIME_CODE_LEVELS_H_

namespace weft::code {

// What code of hosts runs on, as plans say it, with the version of how functions are called (host_code.h).
inline constexpr char kHostTarget[] = "x86_64-linux 1";

// What code of GPUs is, with the version of how kernels are launched (gpu_code.h): PTX for this processor and all newer
// ones.
inline constexpr char kGpuTarget[] = "nvptx64 sm_80 1";
inline constexpr char kGpuProcessor[] = "sm_80", kGpuFeatures[] = "+ptx70";

// Threads of a block of a generated kernel.
inline constexpr int kGpuThreads = 256;

// 64-bit words of the argument of a kernel for several tensors at once: the 4 KiB that every driver takes.
inline constexpr int kGpuBatchWords = 512;

// What the symbol of a kernel's function for sums over rows has behind the kernel's name.
inline constexpr char kSums[] = "_sums";

// A level of x86-64 (System V ABI, x86-64 psABI, section 3.1.1), as LLVM calls it, and what the symbols for it end
// with.
struct Level {
  const char* processor;
  const char* suffix;
};

// The newest last. 3 has AVX2 and FMA, 4 AVX-512.
inline constexpr Level kLevels[] = {{"x86-64-v3", "_v3"}, {"x86-64-v4", "_v4"}};

}  // namespace weft::code

#endif  // WEFT_RUNTIME_CODE_LEVELS_H_
