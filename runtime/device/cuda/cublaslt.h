// cuBLASLt as a table of functions, opened when the program runs. Tests fill the
// same table with an emulation (emulated_cublaslt.h).
#ifndef WEFT_RUNTIME_DEVICE_CUDA_CUBLASLT_H_
#define WEFT_RUNTIME_DEVICE_CUDA_CUBLASLT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/driver.h"

namespace weft::cuda::lt {

// The library's types and constants, as in cublasLt.h; cublaslt_test.cc compares.
using Status = int;
inline constexpr Status kOk = 0;
inline constexpr Status kInvalid = 7;
inline constexpr Status kNotSupported = 15;

// Element types (cudaDataType_t), and what sums are taken in (cublasComputeType_t).
inline constexpr int kFloat32 = 0, kFloat16 = 2, kBFloat16 = 14;
inline constexpr int kCompute32F = 68, kCompute32FastTf32 = 77;
inline constexpr int kOperationN = 0, kOperationT = 1;

// Attributes of a product's description, of a matrix's, of a preference.
enum Description { kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kBiasPointer = 8, kAuxPointer = 11, kAuxLd = 12 };
enum Layout { kType = 0, kOrder = 1, kRows = 2, kColumns = 3, kLd = 4, kBatchCount = 5, kBatchStride = 6 };
enum Preference {
  kMaxWorkspaceBytes = 1,
  kReductionSchemes = 3,
  kAlignmentA = 5,
  kAlignmentB = 6,
  kAlignmentC = 7,
  kAlignmentD = 8
};
// Partial sums of a split inner dimension are added in the compute type, in a fixed order.
inline constexpr uint32_t kReductionComputeType = 2;

// Epilogues.
inline constexpr uint32_t kEpilogueNone = 1, kEpilogueBias = 4, kEpilogueGelu = 32, kEpilogueAux = 128;
inline constexpr uint32_t kEpilogueBiasGradientA = 256, kEpilogueBiasGradientB = 512;

// Opaque; may be kept and used again with the same version on the same kind of device.
struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  size_t workspace_bytes;
  Status state;
  float waves;
  int reserved[4];
};

// X(field, symbol, type)
#define WEFT_CUBLASLT_FUNCTIONS(X)                                                                                  \
  X(GetVersion, "cublasLtGetVersion", size_t())                                                                     \
  X(GetStatusName, "cublasLtGetStatusName", const char*(Status))                                                    \
  X(Create, "cublasLtCreate", Status(Handle*))                                                                      \
  X(Destroy, "cublasLtDestroy", Status(Handle))                                                                     \
  X(DescCreate, "cublasLtMatmulDescCreate", Status(Handle*, int, int))                                              \
  X(DescDestroy, "cublasLtMatmulDescDestroy", Status(Handle))                                                       \
  X(DescSetAttribute, "cublasLtMatmulDescSetAttribute", Status(Handle, int, const void*, size_t))                   \
  X(LayoutCreate, "cublasLtMatrixLayoutCreate", Status(Handle*, int, uint64_t, uint64_t, int64_t))                  \
  X(LayoutDestroy, "cublasLtMatrixLayoutDestroy", Status(Handle))                                                   \
  X(LayoutSetAttribute, "cublasLtMatrixLayoutSetAttribute", Status(Handle, int, const void*, size_t))               \
  X(PreferenceCreate, "cublasLtMatmulPreferenceCreate", Status(Handle*))                                            \
  X(PreferenceDestroy, "cublasLtMatmulPreferenceDestroy", Status(Handle))                                           \
  X(PreferenceSetAttribute, "cublasLtMatmulPreferenceSetAttribute", Status(Handle, int, const void*, size_t))       \
  X(GetHeuristic, "cublasLtMatmulAlgoGetHeuristic",                                                                 \
    Status(Handle, Handle, Handle, Handle, Handle, Handle, Handle, int, HeuristicResult*, int*))                    \
  X(Check, "cublasLtMatmulAlgoCheck",                                                                               \
    Status(Handle, Handle, Handle, Handle, Handle, Handle, const Algorithm*, HeuristicResult*))                     \
  X(Matmul, "cublasLtMatmul",                                                                                       \
    Status(Handle, Handle, const void*, const void*, Handle, const void*, Handle, const void*, const void*, Handle, \
           void*, Handle, const Algorithm*, void*, size_t, Handle))

// Thread-safe, as the library is. Never changed once filled.
struct CublasLt {
#define WEFT_CUBLASLT_FIELD(field, symbol, ...) std::function<__VA_ARGS__> field;
  WEFT_CUBLASLT_FUNCTIONS(WEFT_CUBLASLT_FIELD)
#undef WEFT_CUBLASLT_FIELD
  std::string path;  // where it was found

  // OK for kOk; else "<what>: CUBLAS_STATUS_INVALID_VALUE": kUnimplemented for
  // what the library does not support, kInternal for the rest.
  absl::Status Explain(Status status, const std::string& what) const;
  // "cuBLASLt 13.1.0 (/usr/local/cuda/lib64/libcublasLt.so.13)".
  std::string ToString() const;
};

// Opens the library as OpenLibrary() (library.h) does; it stays open.
absl::StatusOr<std::unique_ptr<CublasLt>> OpenCublasLt(const std::string& folder);

}  // namespace weft::cuda::lt

#endif  // WEFT_RUNTIME_DEVICE_CUDA_CUBLASLT_H_
