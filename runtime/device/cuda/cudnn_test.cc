#include "runtime/device/cuda/cudnn.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/cuda/attention.h"

#if HAVE_CUDA && __has_include(<cudnn.h>)
#define HAVE_CUDNN 1
#include <cudnn.h>  // with "" it is ours

#include <type_traits>
#endif

namespace weft::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CudnnTest, ALibraryThatIsAnotherIsTooOld) {
  const std::string folder = std::string(std::getenv("TEST_TMPDIR")) + "/nvidia/cudnn/lib";
  std::filesystem::create_directories(folder);
  for (const char* system : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    std::error_code error;
    if (std::filesystem::exists(system)) std::filesystem::copy_file(system, folder + "/libcudnn.so.9", error);
  }
  const absl::Status status = dnn::OpenCudnn(std::getenv("TEST_TMPDIR")).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), StartsWith("cuDNN: expected a newer library, "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("nvidia/cudnn/lib/libcudnn.so.9 lacks "));
}

TEST(CudnnTest, StatusesAreToldApart) {
  dnn::Cudnn library;
  library.GetErrorString = [](dnn::Status) { return "CUDNN_STATUS_X"; };
  EXPECT_TRUE(library.Explain(dnn::kOk, "what").ok());
  EXPECT_EQ(library.Explain(3014, "what"), absl::UnimplementedError("what: CUDNN_STATUS_X"));
  EXPECT_EQ(library.Explain(2000, "what"), absl::InternalError("what: CUDNN_STATUS_X"));
  EXPECT_EQ(library.Explain(4000, "what").code(), absl::StatusCode::kInternal);
  EXPECT_EQ(dnn::VersionText(91002), "9.10.2");
}

#ifdef HAVE_CUDNN

// As symbols have them, whatever the names of their types: handles are pointers, enumerations ints.
template <typename Type>
using Plain = std::conditional_t<std::is_enum_v<Type>, int, std::conditional_t<std::is_pointer_v<Type>, void*, Type>>;
template <typename Type>
struct Signature;
template <typename Result, typename... Arguments>
struct Signature<Result(Arguments...)> {
  using Of = Plain<Result>(Plain<Arguments>...);
};
template <typename Type>
struct FunctionOf;
template <typename Type>
struct FunctionOf<std::function<Type>> {
  using Of = typename Signature<Type>::Of;
};
#define WEFT_SAME(field, function)                                                                              \
  static_assert(std::is_same_v<Signature<decltype(function)>::Of, FunctionOf<decltype(dnn::Cudnn::field)>::Of>, \
                #function)
WEFT_SAME(GetVersion, cudnnGetVersion);
WEFT_SAME(GetErrorString, cudnnGetErrorString);
WEFT_SAME(Create, cudnnCreate);
WEFT_SAME(Destroy, cudnnDestroy);
WEFT_SAME(SetStream, cudnnSetStream);
WEFT_SAME(CreateDescriptor, cudnnBackendCreateDescriptor);
WEFT_SAME(DestroyDescriptor, cudnnBackendDestroyDescriptor);
WEFT_SAME(SetAttribute, cudnnBackendSetAttribute);
WEFT_SAME(GetAttribute, cudnnBackendGetAttribute);
WEFT_SAME(Finalize, cudnnBackendFinalize);
WEFT_SAME(Execute, cudnnBackendExecute);

TEST(CudnnTest, ConstantsAreThoseOfTheHeader) {
  const struct {
    int ours, theirs;
  } all[] = {
      {dnn::kOk, CUDNN_STATUS_SUCCESS},
      {dnn::kBadParam, CUDNN_STATUS_BAD_PARAM},
      {dnn::kNotFinalized, CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED},
      {dnn::kShapeMismatch, CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH},
      {dnn::kAttributeType, CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE},
      {dnn::kNotSupported, CUDNN_STATUS_NOT_SUPPORTED},
      {dnn::kGraphPattern, CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN},
      {dnn::kExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED},
      {dnn::kPointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR},
      {dnn::kEngine, CUDNN_BACKEND_ENGINE_DESCRIPTOR},
      {dnn::kEngineConfig, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR},
      {dnn::kHeuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR},
      {dnn::kPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR},
      {dnn::kPointwiseOperation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR},
      {dnn::kOperationGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
      {dnn::kVariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR},
      {dnn::kTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR},
      {dnn::kMatmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR},
      {dnn::kMatmulOperation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR},
      {dnn::kReduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR},
      {dnn::kReductionOperation, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR},
      {dnn::kReshapeOperation, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR},
      {dnn::kHandleType, CUDNN_TYPE_HANDLE},
      {dnn::kDataTypeType, CUDNN_TYPE_DATA_TYPE},
      {dnn::kBooleanType, CUDNN_TYPE_BOOLEAN},
      {dnn::kInt64Type, CUDNN_TYPE_INT64},
      {dnn::kPointerType, CUDNN_TYPE_VOID_PTR},
      {dnn::kHeuristicModeType, CUDNN_TYPE_HEUR_MODE},
      {dnn::kPointwiseModeType, CUDNN_TYPE_POINTWISE_MODE},
      {dnn::kDescriptorType, CUDNN_TYPE_BACKEND_DESCRIPTOR},
      {dnn::kReductionType, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE},
      {dnn::kCharType, CUDNN_TYPE_CHAR},
      {dnn::kPointwiseMode, CUDNN_ATTR_POINTWISE_MODE},
      {dnn::kPointwisePrecision, CUDNN_ATTR_POINTWISE_MATH_PREC},
      {dnn::kPointwiseAxis, CUDNN_ATTR_POINTWISE_AXIS},
      {dnn::kHeuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE},
      {dnn::kHeuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH},
      {dnn::kHeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS},
      {dnn::kConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE},
      {dnn::kPlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE},
      {dnn::kPlanConfig, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG},
      {dnn::kPlanWorkspaceBytes, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE},
      {dnn::kPointwiseDescription, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR},
      {dnn::kPointwiseX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC},
      {dnn::kPointwiseB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC},
      {dnn::kPointwiseY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC},
      {dnn::kPointwiseT, CUDNN_ATTR_OPERATION_POINTWISE_TDESC},
      {dnn::kGraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE},
      {dnn::kGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS},
      {dnn::kTensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT},
      {dnn::kTensorType, CUDNN_ATTR_TENSOR_DATA_TYPE},
      {dnn::kTensorDimensions, CUDNN_ATTR_TENSOR_DIMENSIONS},
      {dnn::kTensorStrides, CUDNN_ATTR_TENSOR_STRIDES},
      {dnn::kTensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID},
      {dnn::kTensorVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL},
      {dnn::kTensorByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE},
      {dnn::kPackIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS},
      {dnn::kPackPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS},
      {dnn::kPackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE},
      {dnn::kEngineIndex, CUDNN_ATTR_ENGINE_GLOBAL_INDEX},
      {dnn::kMatmulType, CUDNN_ATTR_MATMUL_COMP_TYPE},
      {dnn::kMatmulA, CUDNN_ATTR_OPERATION_MATMUL_ADESC},
      {dnn::kMatmulB, CUDNN_ATTR_OPERATION_MATMUL_BDESC},
      {dnn::kMatmulC, CUDNN_ATTR_OPERATION_MATMUL_CDESC},
      {dnn::kMatmulDescription, CUDNN_ATTR_OPERATION_MATMUL_DESC},
      {dnn::kReductionOperator, CUDNN_ATTR_REDUCTION_OPERATOR},
      {dnn::kReductionComputeType, CUDNN_ATTR_REDUCTION_COMP_TYPE},
      {dnn::kReductionX, CUDNN_ATTR_OPERATION_REDUCTION_XDESC},
      {dnn::kReductionY, CUDNN_ATTR_OPERATION_REDUCTION_YDESC},
      {dnn::kReductionDescription, CUDNN_ATTR_OPERATION_REDUCTION_DESC},
      {dnn::kReshapeX, CUDNN_ATTR_OPERATION_RESHAPE_XDESC},
      {dnn::kReshapeY, CUDNN_ATTR_OPERATION_RESHAPE_YDESC},
      {dnn::kFloat32, CUDNN_DATA_FLOAT},
      {dnn::kFloat16, CUDNN_DATA_HALF},
      {dnn::kInt32, CUDNN_DATA_INT32},
      {dnn::kBFloat16, CUDNN_DATA_BFLOAT16},
      {dnn::kBoolean, CUDNN_DATA_BOOLEAN},
      {dnn::kAdd, CUDNN_POINTWISE_ADD},
      {dnn::kMultiply, CUDNN_POINTWISE_MUL},
      {dnn::kDivide, CUDNN_POINTWISE_DIV},
      {dnn::kSubtract, CUDNN_POINTWISE_SUB},
      {dnn::kExponential, CUDNN_POINTWISE_EXP},
      {dnn::kLogarithm, CUDNN_POINTWISE_LOG},
      {dnn::kIdentity, CUDNN_POINTWISE_IDENTITY},
      {dnn::kNotLess, CUDNN_POINTWISE_CMP_GE},
      {dnn::kIndex, CUDNN_POINTWISE_GEN_INDEX},
      {dnn::kSelect, CUDNN_POINTWISE_BINARY_SELECT},
      {dnn::kSum, CUDNN_REDUCE_TENSOR_ADD},
      {dnn::kMaximum, CUDNN_REDUCE_TENSOR_MAX},
      {dnn::kModeFallback, CUDNN_HEUR_MODE_FALLBACK},
      {dnn::kModeFirst, CUDNN_HEUR_MODE_A},
#if CUDNN_VERSION >= 90800
      {dnn::kDeviceProperties, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR},
      {dnn::kHeuristicsDevice, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP},
      {dnn::kPlanDevice, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP},
      {dnn::kDeviceJson, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION},
#endif
  };
  for (const auto& it : all) EXPECT_EQ(it.ours, it.theirs) << "entry " << &it - all;
}

#endif  // HAVE_CUDNN

// cuDNN can plan for a GPU that it is told of (since 9.8). These are an H200's numbers, in the words that the library
// asks for one by one when they are missing; an A100 differs by `version` alone, as far as the plans show.
std::string DeviceJson(int version) {
  return R"({"deviceVer": )" + std::to_string(version) +
         R"(, "driverVer": 13000, "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64],
             "regsPerBlock": 65536, "multiProcessorCount": 132, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000,
             "memoryBusWidth": 6144, "l2CacheSize": 62914560, "warpSize": 32, "maxSharedMemoryPerBlock": 49152,
             "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
             "pciDeviceId": 0, "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048,
             "isTccDriver": 0, "supportCoopLaunch": 1, "oversizedSharedMemoryPerBlock": 0, "cudaDeviceId": 0,
             "totalGlobalMem": 150754820096, "deviceName": "NVIDIA H200"})";
}

// The library itself makes plans of our graphs, for GPUs that are not here; it runs none.
class RealCudnnTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string driver = "tests/emulation/libraries/no_gpu/libcuda.so.1";
    ASSERT_NE(dlopen(driver.c_str(), RTLD_NOW | RTLD_GLOBAL), nullptr) << dlerror();
    auto library = dnn::OpenCudnn("");
    if (!library.ok()) GTEST_SKIP() << library.status().message();
    library_ = *std::move(library);
    EXPECT_THAT(library_->ToString(), StartsWith("cuDNN 9."));
  }

  // The workspace of the first plan.
  absl::StatusOr<size_t> Plan(const GpuAttentionSpec& spec, bool deterministic, int version = 900) const {
    const auto device = device::CudnnDescriptor::Create(*library_, dnn::kDeviceProperties);
    if (!device.ok()) return device.status();
    const std::string json = DeviceJson(version);
    absl::Status status = device->Set(dnn::kDeviceJson, dnn::kCharType, static_cast<int64_t>(json.size()), json.data());
    if (status.ok()) status = device->Finalize();
    size_t bytes = 0;
    if (status.ok()) {
      status = device::OfferPlans(*library_, nullptr, &*device, spec, deterministic, [&](device::AttentionPlan plan) {
        bytes = plan.workspace_bytes;
        return true;
      });
    }
    if (!status.ok()) return status;
    return bytes;
  }

  std::unique_ptr<dnn::Cudnn> library_;
};

GpuAttentionSpec SpecOf(int64_t queries, int64_t keys, int64_t heads, int64_t key_heads, int64_t depth, bool causal) {
  return {.type = DType::kBF16,
          .batch = 2,
          .queries = queries,
          .keys = keys,
          .query_heads = heads,
          .key_heads = key_heads,
          .depth = depth,
          .scale = 0.125,
          .causal = causal,
          .first_limit = keys - queries + 1};
}

TEST_F(RealCudnnTest, TheLibraryPlansOurGraphs) {
  const GpuAttentionSpec shapes[] = {SpecOf(128, 128, 4, 4, 64, true),     SpecOf(128, 128, 4, 4, 64, false),
                                     SpecOf(1024, 1024, 16, 16, 64, true), SpecOf(128, 256, 4, 2, 128, true),
                                     SpecOf(131, 131, 2, 1, 80, true),     SpecOf(64, 32, 2, 2, 64, false)};
  int64_t planned = 0;
  for (GpuAttentionSpec spec : shapes) {
    for (const int way : {0, 1, 2, 3}) {  // without and with the log sum, the gradient, the same every time
      spec.type = planned % 3 == 0 ? DType::kF16 : DType::kBF16;
      spec.lse = way > 0;
      spec.gradient = way > 1;
      spec.packed = spec.queries == spec.keys && spec.query_heads == spec.key_heads && planned % 2 == 0;
      const int version = planned++ % 5 == 0 ? 800 : 900;
      const auto plan = Plan(spec, /*deterministic=*/way == 3, version);
      EXPECT_TRUE(plan.ok()) << device::Describe(spec) << ", sm " << version << ": " << plan.status();
    }
  }
}

// What a gradient that is the same every time costs.
TEST_F(RealCudnnTest, ADeterministicGradientKeepsTheScoresGradients) {
  GpuAttentionSpec spec = SpecOf(1024, 1024, 16, 16, 64, true);
  spec.gradient = true;
  const auto fast = Plan(spec, false), same = Plan(spec, true);
  ASSERT_TRUE(fast.ok() && same.ok()) << fast.status() << same.status();
  const size_t scores = size_t{2} * 16 * 1024 * 1024 * 2;
  EXPECT_LT(*fast, scores / 4);
  EXPECT_GE(*same, scores);
}

TEST_F(RealCudnnTest, WhatItDoesNotDoIsAnError) {
  GpuAttentionSpec spec = SpecOf(64, 64, 2, 2, 256, true);
  spec.gradient = true;
  EXPECT_FALSE(Plan(spec, true, 800).ok());  // a head of 256 fits no multiprocessor of an A100
}

}  // namespace
}  // namespace weft::cuda
