// Where a plan's inputs come from and its outputs go: what the kernels `input`
// and `output` are bound to.
#ifndef WEFT_RUNTIME_EXECUTOR_PORTS_H_
#define WEFT_RUNTIME_EXECUTOR_PORTS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/plan/plan.pb.h"

namespace weft::executor {

// One rank's tile of a named input or output.
struct Port {
  std::string name;  // the kernel's attribute
  int rank = 0;
  TensorSpec spec;      // the rank's tile
  bool primary = true;  // of the ranks that hold this tile, the one that speaks for it
  const plan::Placement* placement = nullptr;
  const plan::Buffer* buffer = nullptr;
};

// Fills one port. One thread at a time.
class BatchField {
 public:
  virtual ~BatchField() = default;
  // Writes the whole tile for this micro-batch of this step: a pure function
  // of the two. Does not allocate, except for an error.
  virtual absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) = 0;
};

// Thread-safe. Outlives the fields that it makes.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Called when a plan is loaded. kInvalidArgument if the source has no such
  // field or none of this shape and type.
  virtual absl::StatusOr<std::unique_ptr<BatchField>> Bind(const Port& port) = 0;
};

// Takes what one port gives. One thread at a time.
class ResultField {
 public:
  virtual ~ResultField() = default;
  // Takes the whole tile; the memory is the runtime's.
  virtual absl::Status Take(int64_t step, int64_t micro_batch, const void* tile) = 0;
};

// Thread-safe. Outlives the fields that it makes.
class ResultSink {
 public:
  virtual ~ResultSink() = default;
  virtual absl::StatusOr<std::unique_ptr<ResultField>> Bind(const Port& port) = 0;
};

}  // namespace weft::executor

#endif  // WEFT_RUNTIME_EXECUTOR_PORTS_H_
