// Batches that are read before they are asked for.
#ifndef WEFT_RUNTIME_DATA_PREFETCHED_H_
#define WEFT_RUNTIME_DATA_PREFETCHED_H_

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"

namespace weft::data {

// Serves what `source` does. Once a batch is handed over, a thread of the field's own fills the next one, while the
// step computes: page faults and augmentation are off the critical path, where a copy is left. A batch that does not
// follow the one before, as the first, is filled when it is asked for.
class Prefetched : public executor::BatchSource {
 public:
  // Of steps that have so many micro-batches.
  Prefetched(std::unique_ptr<executor::BatchSource> source, int64_t micro_batches)
      : source_(std::move(source)), micro_batches_(micro_batches) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override;

 private:
  const std::unique_ptr<executor::BatchSource> source_;
  const int64_t micro_batches_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_PREFETCHED_H_
