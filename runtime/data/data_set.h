// What a run reads, as a source of its plan's inputs.
#ifndef WEFT_RUNTIME_DATA_DATA_SET_H_
#define WEFT_RUNTIME_DATA_DATA_SET_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/executor/ports.h"

namespace weft::data {

// Immutable: any thread may call.
class DataSet : public executor::BatchSource {
 public:
  // Checks that Fill can serve this tensor. kNotFound: no such field; kInvalidArgument: of another shape or type.
  virtual absl::Status Check(const TensorSpec& spec, const std::string& field) const = 0;

  // Writes the tile of `field` that belongs to this micro-batch; the spec has passed Check. Does not allocate, except
  // for an error.
  virtual absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                            void* out) const = 0;

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) final;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_DATA_SET_H_
