// The CUDA driver as a table of functions: opened when the program runs, so
// that nothing links CUDA and a machine without a driver says so in one line.
// Tests fill the same table with an emulation (emulated.h).
#ifndef WEFT_RUNTIME_DEVICE_CUDA_DRIVER_H_
#define WEFT_RUNTIME_DEVICE_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::cuda {

// The driver's types, laid out as in cuda.h; driver_test.cc compares.
using Result = int;
using Ordinal = int;  // CUdevice
using Address = unsigned long long;
using Handle = void*;  // of a context, stream, event, module, function or graph
struct Uuid {
  char bytes[16];
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kInvalidValue = 1;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kInvalidContext = 201;
inline constexpr Result kNoBinaryForGpu = 209;
inline constexpr Result kInvalidPtx = 218;
inline constexpr Result kIllegalState = 401;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kLaunchFailed = 719;
// While a stream records a graph.
inline constexpr Result kCaptureUnsupported = 900;
inline constexpr Result kCaptureInvalidated = 901;
inline constexpr Result kCaptureIsolation = 905;
inline constexpr Result kCapturedEvent = 907;
inline constexpr Result kCaptureWrongThread = 908;

// Attributes of devices.
inline constexpr int kMultiprocessorCount = 16;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kMaxSharedBytesOptin = 97;
// Attributes of functions.
inline constexpr int kMaxDynamicSharedBytes = 8;
// Flags.
inline constexpr unsigned kHostAllocPortable = 1;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr int kCaptureGlobal = 0;
inline constexpr int kCaptureThreadLocal = 1;
inline constexpr int kCaptureRelaxed = 2;

// X(field, symbol, type). A cu... function whose symbol has a version is meant by
// its version, as a program compiled against cuda.h would; but cuEventElapsedTime
// without, which older drivers have too.
#define WEFT_CUDA_DRIVER_FUNCTIONS(X)                                                                             \
  X(GetErrorName, "cuGetErrorName", Result(Result, const char**))                                                 \
  X(GetErrorString, "cuGetErrorString", Result(Result, const char**))                                             \
  X(Init, "cuInit", Result(unsigned))                                                                             \
  X(DriverGetVersion, "cuDriverGetVersion", Result(int*))                                                         \
  X(DeviceGetCount, "cuDeviceGetCount", Result(int*))                                                             \
  X(DeviceGet, "cuDeviceGet", Result(Ordinal*, int))                                                              \
  X(DeviceGetName, "cuDeviceGetName", Result(char*, int, Ordinal))                                                \
  X(DeviceTotalMem, "cuDeviceTotalMem_v2", Result(size_t*, Ordinal))                                              \
  X(DeviceGetAttribute, "cuDeviceGetAttribute", Result(int*, int, Ordinal))                                       \
  X(DeviceGetUuid, "cuDeviceGetUuid_v2", Result(Uuid*, Ordinal))                                                  \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", Result(Handle*, Ordinal))                                 \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", Result(Ordinal))                                     \
  X(CtxSetCurrent, "cuCtxSetCurrent", Result(Handle))                                                             \
  X(MemGetInfo, "cuMemGetInfo_v2", Result(size_t*, size_t*))                                                      \
  X(MemAlloc, "cuMemAlloc_v2", Result(Address*, size_t))                                                          \
  X(MemFree, "cuMemFree_v2", Result(Address))                                                                     \
  X(MemHostAlloc, "cuMemHostAlloc", Result(void**, size_t, unsigned))                                             \
  X(MemFreeHost, "cuMemFreeHost", Result(void*))                                                                  \
  X(MemsetD8Async, "cuMemsetD8Async", Result(Address, unsigned char, size_t, Handle))                             \
  X(MemcpyAsync, "cuMemcpyAsync", Result(Address, Address, size_t, Handle))                                       \
  X(StreamCreate, "cuStreamCreate", Result(Handle*, unsigned))                                                    \
  X(StreamCreateWithPriority, "cuStreamCreateWithPriority", Result(Handle*, unsigned, int))                       \
  X(CtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", Result(int*, int*))                                 \
  X(StreamDestroy, "cuStreamDestroy_v2", Result(Handle))                                                          \
  X(StreamSynchronize, "cuStreamSynchronize", Result(Handle))                                                     \
  X(StreamWaitEvent, "cuStreamWaitEvent", Result(Handle, Handle, unsigned))                                       \
  X(EventCreate, "cuEventCreate", Result(Handle*, unsigned))                                                      \
  X(EventDestroy, "cuEventDestroy_v2", Result(Handle))                                                            \
  X(EventRecord, "cuEventRecord", Result(Handle, Handle))                                                         \
  X(EventSynchronize, "cuEventSynchronize", Result(Handle))                                                       \
  X(EventQuery, "cuEventQuery", Result(Handle))                                                                   \
  X(EventElapsedTime, "cuEventElapsedTime", Result(float*, Handle, Handle))                                       \
  X(ModuleLoadData, "cuModuleLoadData", Result(Handle*, const void*))                                             \
  X(ModuleUnload, "cuModuleUnload", Result(Handle))                                                               \
  X(ModuleGetFunction, "cuModuleGetFunction", Result(Handle*, Handle, const char*))                               \
  X(FuncSetAttribute, "cuFuncSetAttribute", Result(Handle, int, int))                                             \
  X(LaunchKernel, "cuLaunchKernel",                                                                               \
    Result(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**)) \
  X(StreamBeginCapture, "cuStreamBeginCapture_v2", Result(Handle, int))                                           \
  X(StreamEndCapture, "cuStreamEndCapture", Result(Handle, Handle*))                                              \
  X(GraphInstantiate, "cuGraphInstantiateWithFlags", Result(Handle*, Handle, unsigned long long))                 \
  X(GraphUpload, "cuGraphUpload", Result(Handle, Handle))                                                         \
  X(GraphLaunch, "cuGraphLaunch", Result(Handle, Handle))                                                         \
  X(GraphExecDestroy, "cuGraphExecDestroy", Result(Handle))                                                       \
  X(GraphDestroy, "cuGraphDestroy", Result(Handle))                                                               \
  /* Of newer drivers; may be null. */                                                                            \
  X(FuncLoad, "cuFuncLoad", Result(Handle))                                                                       \
  X(FuncGetParamInfo, "cuFuncGetParamInfo", Result(Handle, size_t, size_t*, size_t*))

// Thread-safe, as the driver is. Never changed once filled.
struct Driver {
#define WEFT_CUDA_FIELD(field, symbol, ...) std::function<__VA_ARGS__> field;
  WEFT_CUDA_DRIVER_FUNCTIONS(WEFT_CUDA_FIELD)
#undef WEFT_CUDA_FIELD

  // OK for kSuccess; else "<what>: CUDA_ERROR_OUT_OF_MEMORY (out of memory)",
  // kResourceExhausted for want of memory, kInternal for the rest.
  absl::Status Check(Result result, const std::string& what) const;
};

// Opens the machine's driver and initialises it; it stays open. kUnavailable, in
// one line, if there is none or it finds no GPU; kFailedPrecondition if it is too old.
absl::StatusOr<std::unique_ptr<Driver>> OpenDriver(const std::string& library = "libcuda.so.1");

}  // namespace weft::cuda

#endif  // WEFT_RUNTIME_DEVICE_CUDA_DRIVER_H_
