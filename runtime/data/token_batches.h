// Which tokens a step reads.
//
// The file is cut into windows of T + 1 tokens that begin every T tokens:
// window w holds tokens [w T, w T + T], and of n tokens (n - 1) / T windows can
// be cut. Sequence i of the run, i = step B + micro_batch rows + row, is window
// i mod windows, in the order of the file or permuted anew every epoch. So what
// a step reads does not depend on how the batch is cut, into micro-batches or
// over ranks, nor on where a run was resumed.
#ifndef WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
#define WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/permutation.h"
#include "runtime/data/token_file.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// Owns its file. Immutable: any thread may call.
class TokenBatches {
 public:
  struct Options {
    int64_t sequence = 0;      // T: tokens a sequence
    int64_t global_batch = 0;  // B: sequences a step, over all ranks and micro-batches
    DataOrder order = SHUFFLED;
    uint64_t seed = 0;  // of the order; SEQUENTIAL ignores it
  };

  // kInvalidArgument: the file has not enough tokens for one step, whose sequences would be the same ones again.
  static absl::StatusOr<std::unique_ptr<const TokenBatches>> Create(std::unique_ptr<const TokenFile> file,
                                                                    const Options& options);

  // Checks that Fill can serve this tensor: `field` is "tokens" (the first T
  // tokens of each window) or "labels" (the last T), spec is i32 with global
  // dims [rows, T], and rows divides B.
  absl::Status Check(const TensorSpec& spec, const std::string& field) const;

  // Writes the tile of `field` that belongs to this micro-batch, as int32; rows
  // and columns may both be split. Checks as Check does, and that the micro-batch
  // is below B / rows. Does not allocate, except for an error.
  absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                    void* out) const;

  // The position in the file of the first token of a sequence of the run.
  int64_t Position(int64_t sequence_index) const;
  // Windows in the file: sequences an epoch.
  int64_t windows() const { return windows_; }
  const TokenFile& file() const { return *file_; }

 private:
  TokenBatches(std::unique_ptr<const TokenFile> file, const Options& options, int64_t windows)
      : file_(std::move(file)), options_(options), windows_(windows), permutation_(windows, options.seed) {}

  const std::unique_ptr<const TokenFile> file_;
  const Options options_;
  const int64_t windows_;
  const Permutation permutation_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
