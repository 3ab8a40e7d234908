#include "runtime/device/cuda/driver.h"

#include "gtest/gtest.h"

#if HAVE_CUDA
#include <type_traits>

#include "cuda.h"
#endif

namespace weft::cuda {
namespace {

TEST(DriverTest, AMachineWithoutADriverSaysSoInOneLine) {
  const auto driver = OpenDriver("libcuda_that_is_not_there.so.1");
  EXPECT_EQ(driver.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(driver.status().message(), "CUDA: expected an NVIDIA driver, found no libcuda_that_is_not_there.so.1");
}

TEST(DriverTest, ALibraryThatIsNoDriverIsTooOld) {
  const auto driver = OpenDriver("libm.so.6");
  EXPECT_EQ(driver.status().code(), absl::StatusCode::kFailedPrecondition);
}

#if HAVE_CUDA

// Whether a parameter of ours is passed as the vendor's: the same class and size.
template <typename Ours, typename Theirs>
constexpr bool Alike() {
  return std::is_void_v<Ours> == std::is_void_v<Theirs> && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
         sizeof(Ours) == sizeof(Theirs);
}

template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename... Ours, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameShape<Result(Ours...), CUresult(Theirs...)> : std::bool_constant<(Alike<Ours, Theirs>() && ...)> {};

TEST(DriverTest, TheTableIsThatOfTheToolkit) {
  struct Shapes {
#define WEFT_FIELD(field, symbol, ...) using field = __VA_ARGS__;
    WEFT_CUDA_DRIVER_FUNCTIONS(WEFT_FIELD)
#undef WEFT_FIELD
  };
#define WEFT_SAME(field, symbol) \
  static_assert(SameShape<Shapes::field, std::remove_pointer_t<decltype(&symbol)>>::value, #symbol)
  WEFT_SAME(GetErrorName, cuGetErrorName);
  WEFT_SAME(GetErrorString, cuGetErrorString);
  WEFT_SAME(Init, cuInit);
  WEFT_SAME(DriverGetVersion, cuDriverGetVersion);
  WEFT_SAME(DeviceGetCount, cuDeviceGetCount);
  WEFT_SAME(DeviceGet, cuDeviceGet);
  WEFT_SAME(DeviceGetName, cuDeviceGetName);
  WEFT_SAME(DeviceTotalMem, cuDeviceTotalMem);
  WEFT_SAME(DeviceGetAttribute, cuDeviceGetAttribute);
  WEFT_SAME(DeviceGetUuid, cuDeviceGetUuid);
  static_assert(sizeof(Uuid) == sizeof(CUuuid));
  WEFT_SAME(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain);
  WEFT_SAME(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease);
  WEFT_SAME(CtxSetCurrent, cuCtxSetCurrent);
  WEFT_SAME(MemGetInfo, cuMemGetInfo);
  WEFT_SAME(MemAlloc, cuMemAlloc);
  WEFT_SAME(MemFree, cuMemFree);
  WEFT_SAME(MemHostAlloc, cuMemHostAlloc);
  WEFT_SAME(MemFreeHost, cuMemFreeHost);
  WEFT_SAME(MemsetD8Async, cuMemsetD8Async);
  WEFT_SAME(MemcpyAsync, cuMemcpyAsync);
  WEFT_SAME(StreamCreate, cuStreamCreate);
  WEFT_SAME(StreamCreateWithPriority, cuStreamCreateWithPriority);
  WEFT_SAME(CtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange);
  WEFT_SAME(StreamDestroy, cuStreamDestroy);
  WEFT_SAME(StreamSynchronize, cuStreamSynchronize);
  WEFT_SAME(StreamWaitEvent, cuStreamWaitEvent);
  WEFT_SAME(EventCreate, cuEventCreate);
  WEFT_SAME(EventDestroy, cuEventDestroy);
  WEFT_SAME(EventRecord, cuEventRecord);
  WEFT_SAME(EventSynchronize, cuEventSynchronize);
  WEFT_SAME(EventQuery, cuEventQuery);
  WEFT_SAME(EventElapsedTime, cuEventElapsedTime);
  WEFT_SAME(ModuleLoadData, cuModuleLoadData);
  WEFT_SAME(ModuleUnload, cuModuleUnload);
  WEFT_SAME(ModuleGetFunction, cuModuleGetFunction);
  WEFT_SAME(FuncSetAttribute, cuFuncSetAttribute);
  WEFT_SAME(LaunchKernel, cuLaunchKernel);
  WEFT_SAME(FuncGetParamInfo, cuFuncGetParamInfo);
  WEFT_SAME(FuncLoad, cuFuncLoad);
  WEFT_SAME(StreamBeginCapture, cuStreamBeginCapture);
  WEFT_SAME(StreamEndCapture, cuStreamEndCapture);
  WEFT_SAME(GraphInstantiate, cuGraphInstantiate);
  WEFT_SAME(GraphUpload, cuGraphUpload);
  WEFT_SAME(GraphLaunch, cuGraphLaunch);
  WEFT_SAME(GraphExecDestroy, cuGraphExecDestroy);
  WEFT_SAME(GraphDestroy, cuGraphDestroy);
  // The macros of cuda.h say which version a name means.
#define WEFT_TEXT(symbol) #symbol
#define WEFT_SYMBOL(symbol) WEFT_TEXT(symbol)
  EXPECT_STREQ(WEFT_SYMBOL(cuMemAlloc), "cuMemAlloc_v2");
  EXPECT_STREQ(WEFT_SYMBOL(cuStreamDestroy), "cuStreamDestroy_v2");
  EXPECT_STREQ(WEFT_SYMBOL(cuDevicePrimaryCtxRelease), "cuDevicePrimaryCtxRelease_v2");
  EXPECT_STREQ(WEFT_SYMBOL(cuStreamBeginCapture), "cuStreamBeginCapture_v2");
  EXPECT_STREQ(WEFT_SYMBOL(cuGraphInstantiate), "cuGraphInstantiateWithFlags");
}

TEST(DriverTest, ConstantsAreThoseOfTheToolkit) {
  EXPECT_EQ(kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_EQ(kNotFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(kNotReady, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(kIllegalState, CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(kCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(kCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(kCaptureIsolation, CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(kCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(kCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_EQ(kCaptureGlobal, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_EQ(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(kMaxSharedBytesOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(kMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(kHostAllocPortable, unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(kStreamNonBlocking, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(kEventDisableTiming, unsigned{CU_EVENT_DISABLE_TIMING});
}

#endif  // HAVE_CUDA

}  // namespace
}  // namespace weft::cuda
