// Events between streams. When the run loop lets an act begin, the acts that it
// depends on have been issued; on a GPU they need not have ended. Fences make
// the device wait where the acts are on different streams.
#ifndef WEFT_RUNTIME_EXECUTOR_FENCES_H_
#define WEFT_RUNTIME_EXECUTOR_FENCES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"
#include "runtime/plan/program.h"

namespace weft::executor {

// Each actor that has dealings with another stream records an event after
// every act that is waited for there, in a ring as long as its registers have slots: the
// run loop's credits keep an event from being recorded again before all have waited for it.
class Fences {
 public:
  static absl::StatusOr<std::unique_ptr<Fences>> Create(const plan::Program& program, device::Device& device);

  // Before and after the work of an act, on its stream's thread.
  absl::Status Before(int32_t actor, int64_t micro_batch, device::Stream& stream);
  absl::Status After(int32_t actor, int64_t micro_batch, device::Stream& stream);

  // Whether they have something to do: the same in every step.
  bool Waits(int32_t actor, int64_t micro_batch) const;
  bool Records(int32_t actor, int64_t micro_batch) const { return actors_[actor].awaited[micro_batch]; }

 private:
  // Wait for the peer's act of micro-batch `follow ? micro_batch - behind : last`.
  struct Wait {
    int32_t peer = 0;
    bool follow = false;
    int64_t behind = 0;
    int64_t last = 0;

    // Negative: of the step before, which has ended.
    int64_t ActFor(int64_t micro_batch) const { return follow ? micro_batch - behind : last; }
  };
  struct Actor {
    std::vector<Wait> waits;
    std::vector<bool> awaited;                         // on another stream, by micro-batch
    std::vector<std::unique_ptr<device::Event>> ring;  // empty: none is
  };

  explicit Fences(const plan::Program& program);
  void AddRegister(const plan::Program& program, int32_t buffer, int32_t reader, std::vector<int64_t>& depth);

  std::vector<Actor> actors_;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_FENCES_H_
