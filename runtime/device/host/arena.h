// Pages of host memory.
#ifndef WEFT_RUNTIME_DEVICE_HOST_ARENA_H_
#define WEFT_RUNTIME_DEVICE_HOST_ARENA_H_

#include "runtime/device/device.h"
#include "runtime/device/host/promises.h"

namespace weft::device {

class HostArena : public Arena {
 public:
  // Maps and touches the pages. kResourceExhausted if the machine has less
  // memory available, what `promises` holds left out: a process that takes it
  // anyway is killed later, without a word.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(int64_t bytes, Promises& promises);
  ~HostArena() override;
  char* base() const override { return base_; }
  int64_t bytes() const override { return bytes_; }

 private:
  HostArena(char* base, int64_t bytes, int64_t mapped) : base_(base), bytes_(bytes), mapped_(mapped) {}
  char* base_;
  int64_t bytes_;
  int64_t mapped_;
};

}  // namespace weft::device

#endif  // WEFT_RUNTIME_DEVICE_HOST_ARENA_H_
