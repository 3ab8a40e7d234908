// Memory that arenas will take and have not taken yet.
#ifndef WEFT_RUNTIME_DEVICE_HOST_PROMISES_H_
#define WEFT_RUNTIME_DEVICE_HOST_PROMISES_H_

#include <cstdint>
#include <mutex>

#include "absl/status/status.h"

namespace weft::device {

// Ranks make their arenas side by side. What the system calls available still
// holds the bytes that another rank is about to touch, so these are counted
// here. Thread-safe.
class Promises {
 public:
  // Promises `bytes` of the `available()` that nobody was promised; -1: not
  // known, then there is always enough. kResourceExhausted says what there is.
  absl::Status Make(int64_t bytes, int64_t (*available)());

  // `bytes` of a promise have been taken, or are given up.
  void Settle(int64_t bytes);

 private:
  std::mutex mutex_;
  int64_t promised_ = 0;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_HOST_PROMISES_H_
