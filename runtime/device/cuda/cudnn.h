// cuDNN's graph API as a table of functions, opened when the program runs. Tests
// fill the same table with an emulation (emulated_cudnn.h).
#ifndef WEFT_RUNTIME_DEVICE_CUDA_CUDNN_H_
#define WEFT_RUNTIME_DEVICE_CUDA_CUDNN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/cuda/driver.h"

namespace weft::cuda::dnn {

// The library's constants, as in cudnn_graph.h of cuDNN 9; cudnn_test.cc compares each.
using Status = int;
inline constexpr Status kOk = 0;
inline constexpr Status kBadParam = 2000;
inline constexpr Status kNotFinalized = 2004;
inline constexpr Status kShapeMismatch = 2008;
inline constexpr Status kAttributeType = 2010;
inline constexpr Status kNotSupported = 3000;  // up to 3999, each with its reason
inline constexpr Status kGraphPattern = 3001;
inline constexpr Status kExecutionFailed = 5000;

// What descriptors describe (cudnnBackendDescriptorType_t).
enum Kind {
  kPointwise = 0,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kPointwiseOperation = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kMatmulOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshapeOperation = 31,
  kDeviceProperties = 38,  // since 9.8
};

// Types of attributes' elements (cudnnBackendAttributeType_t).
enum Type {
  kHandleType = 0,
  kDataTypeType = 1,
  kBooleanType = 2,  // a byte
  kInt64Type = 3,
  kPointerType = 6,
  kHeuristicModeType = 8,
  kPointwiseModeType = 14,
  kDescriptorType = 15,
  kReductionType = 18,
  kCharType = 24,
};

// cudnnBackendAttributeName_t.
enum Attribute {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspaceBytes = 402,
  kPlanDevice = 407,
  kPointwiseDescription = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kPointwiseY = 753,
  kPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineIndex = 1301,
  kMatmulType = 1500,
  kMatmulA = 1520,
  kMatmulB = 1521,
  kMatmulC = 1522,
  kMatmulDescription = 1523,
  kReductionOperator = 1600,
  kReductionComputeType = 1601,
  kReductionX = 1610,
  kReductionY = 1611,
  kReductionDescription = 1612,
  kReshapeX = 2200,
  kReshapeY = 2201,
  kDeviceJson = 2702,
};

// Element types (cudnnDataType_t).
inline constexpr int kFloat32 = 0, kFloat16 = 2, kInt32 = 4, kBFloat16 = 9, kBoolean = 11;

// Of one operand: y = f(x); of two: y = x f b; kSelect: y = t ? x : b. kIndex: y is the index along an axis.
enum PointwiseMode {
  kAdd = 0,
  kMultiply = 1,
  kDivide = 6,
  kSubtract = 9,
  kExponential = 13,
  kLogarithm = 15,
  kIdentity = 21,
  kNotLess = 303,
  kIndex = 501,
  kSelect = 601,
};
inline constexpr int kSum = 0, kMaximum = 3;             // cudnnReduceTensorOp_t
inline constexpr int kModeFallback = 2, kModeFirst = 3;  // cudnnBackendHeurMode_t; the second is its A

// X(field, symbol, type)
#define WEFT_CUDNN_FUNCTIONS(X)                                                                   \
  X(GetVersion, "cudnnGetVersion", size_t())                                                      \
  X(GetErrorString, "cudnnGetErrorString", const char*(Status))                                   \
  X(Create, "cudnnCreate", Status(Handle*))                                                       \
  X(Destroy, "cudnnDestroy", Status(Handle))                                                      \
  X(SetStream, "cudnnSetStream", Status(Handle, Handle))                                          \
  X(CreateDescriptor, "cudnnBackendCreateDescriptor", Status(int, Handle*))                       \
  X(DestroyDescriptor, "cudnnBackendDestroyDescriptor", Status(Handle))                           \
  X(SetAttribute, "cudnnBackendSetAttribute", Status(Handle, int, int, int64_t, const void*))     \
  X(GetAttribute, "cudnnBackendGetAttribute", Status(Handle, int, int, int64_t, int64_t*, void*)) \
  X(Finalize, "cudnnBackendFinalize", Status(Handle))                                             \
  X(Execute, "cudnnBackendExecute", Status(Handle, Handle, Handle))

// A handle is used by one thread at a time; all else is thread-safe, as the library is. Never changed once filled.
struct Cudnn {
#define WEFT_CUDNN_FIELD(field, symbol, ...) std::function<__VA_ARGS__> field;
  WEFT_CUDNN_FUNCTIONS(WEFT_CUDNN_FIELD)
#undef WEFT_CUDNN_FIELD
  std::string path;  // where it was found

  // OK for kOk; else "<what>: CUDNN_STATUS_BAD_PARAM": kUnimplemented for what the library does not
  // support, kInternal for the rest.
  absl::Status Explain(Status status, const std::string& what) const;
  // "cuDNN 9.19.0 (/usr/local/cuda/lib64/libcudnn.so.9)".
  std::string ToString() const;
};

// The oldest cuDNN whose fused attention is used: 9.10.0 and 9.10.1 are known to be wrong, and older ones mask
// with another value than -infinity (cudnn-frontend, sdpa_support_surface.h and attn_score_modifiers.h).
inline constexpr size_t kOldestVersion = 91002;
// "9.10.2" for 91002.
std::string VersionText(size_t version);

// Opens the library as OpenLibrary() (library.h) does; it stays open. It opens the rest of itself
// (libcudnn_graph.so.9 and others) from its own folder.
absl::StatusOr<std::unique_ptr<Cudnn>> OpenCudnn(const std::string& folder);

}  // namespace weft::cuda::dnn

#endif  // WEFT_RUNTIME_DEVICE_CUDA_CUDNN_H_
