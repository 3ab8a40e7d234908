// NCCL as a table of functions: opened when the program runs, so that nothing
// links it and a machine without it says so in one line. Tests fill the same
// table with an emulation (emulated.h).
#ifndef WEFT_RUNTIME_COLLECTIVE_NCCL_NCCL_H_
#define WEFT_RUNTIME_COLLECTIVE_NCCL_NCCL_H_

#include <climits>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/dtype.h"

namespace weft::nccl {

// NCCL's types, laid out as in nccl.h; nccl_test.cc compares.
using Result = int;
using Type = int;
using Reduction = int;
using Comm = void*;
using Stream = void*;  // a CUstream
struct UniqueId {
  char bytes[128] = {};
};
// The part of ncclConfig_t that NCCL 2.17 had: later versions take it, and fill in the rest.
inline constexpr int kUndefined = INT_MIN;
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21700;
  int blocking = 0;
  int cga_cluster_size = kUndefined;
  int min_ctas = kUndefined;
  int max_ctas = kUndefined;  // blocks that a kernel has at most, and so channels
  const char* net_name = nullptr;
};

inline constexpr Result kSuccess = 0;
inline constexpr Result kUnhandledCudaError = 1;
inline constexpr Result kSystemError = 2;
inline constexpr Result kInvalidArgument = 4;
inline constexpr Result kInvalidUsage = 5;
inline constexpr Result kRemoteError = 6;
inline constexpr Result kInProgress = 7;

inline constexpr Reduction kSum = 0;
inline constexpr Reduction kMax = 2;

// The type of elements, ncclFloat and so on.
Type TypeOf(DType dtype);

// X(field, type): ncclField.
#define WEFT_NCCL_FUNCTIONS(X)                                                        \
  X(GetVersion, Result(int*))                                                         \
  X(GetErrorString, const char*(Result))                                              \
  X(GetLastError, const char*(Comm))                                                  \
  X(GetUniqueId, Result(UniqueId*))                                                   \
  X(CommInitRankConfig, Result(Comm*, int, UniqueId, int, Config*))                   \
  X(CommGetAsyncError, Result(Comm, Result*))                                         \
  X(CommFinalize, Result(Comm))                                                       \
  X(CommDestroy, Result(Comm))                                                        \
  X(CommAbort, Result(Comm))                                                          \
  X(GroupStart, Result())                                                             \
  X(GroupEnd, Result())                                                               \
  X(AllReduce, Result(const void*, void*, size_t, Type, Reduction, Comm, Stream))     \
  X(ReduceScatter, Result(const void*, void*, size_t, Type, Reduction, Comm, Stream)) \
  X(AllGather, Result(const void*, void*, size_t, Type, Comm, Stream))                \
  X(Send, Result(const void*, size_t, Type, int, Comm, Stream))                       \
  X(Recv, Result(void*, size_t, Type, int, Comm, Stream))

// Thread-safe, as NCCL is for different communicators. Never changed once filled.
struct Nccl {
#define WEFT_NCCL_FIELD(field, ...) std::function<__VA_ARGS__> field;
  WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FIELD)
#undef WEFT_NCCL_FIELD

  // OK for kSuccess; else "<what>: unhandled system error (<what NCCL logged last>)",
  // kUnavailable if it is about another rank or the network, kInternal for the
  // rest. `comm` may be null.
  absl::Status Check(Result result, const std::string& what, Comm comm) const;
};

struct OpenedNccl {
  Nccl nccl;
  int version = 0;   // 22809: 2.28.9
  std::string path;  // where it was found
  // "NCCL 2.28.9 (libnccl.so.2)".
  std::string ToString() const;
};

// Opens NCCL, found as device/cuda/library.h says; it stays open. kUnavailable,
// in one line, if there is none; kFailedPrecondition if it is too old.
absl::StatusOr<std::unique_ptr<OpenedNccl>> OpenNccl(const std::string& folder);

}  // namespace weft::nccl

#endif  // WEFT_RUNTIME_COLLECTIVE_NCCL_NCCL_H_
