// Which records a step reads.
//
// Sample i of the run, i = step B + micro_batch rows + row, is record i mod n of the n records, in their order or
// permuted anew every epoch; the last micro-batch of a step may have fewer rows than the others. So what a step reads
// does not depend on how the batch is cut, into micro-batches or over ranks, nor on where a run was resumed. A run that
// reads every record once takes them in their order.
#ifndef WEFT_RUNTIME_DATA_SAMPLE_ORDER_H_
#define WEFT_RUNTIME_DATA_SAMPLE_ORDER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/permutation.h"
#include "runtime/plan/job.pb.h"

namespace weft::data {

// Immutable: any thread may call.
class SampleOrder {
 public:
  struct Options {
    int64_t global_batch = 0;  // B: samples a step, over all ranks and micro-batches; at least 1
    DataOrder order = SHUFFLED;
    uint64_t seed = 0;  // SEQUENTIAL ignores it
    // Every record once, in their order, whatever `order` says; what a last step lacks is filled with the last record.
    bool once = false;

    // The fewest records that a step can be made of.
    int64_t least_records() const { return once ? 1 : global_batch; }
  };

  // records >= 1.
  SampleOrder(int64_t records, const Options& options)
      : records_(records), options_(options), permutation_(records, options.seed) {}

  int64_t records() const { return records_; }
  int64_t global_batch() const { return options_.global_batch; }

  // The record that sample `sample` >= 0 of the run is.
  int64_t RecordOf(int64_t sample) const {
    if (options_.once) return sample < records_ ? sample : records_ - 1;
    const int64_t epoch = sample / records_, index = sample % records_;
    return options_.order == SEQUENTIAL ? index : permutation_.At(epoch, index);
  }

  // kInvalidArgument unless `spec`, of the input `field`, is a tile inside a tensor whose rows, the first dimension,
  // are at most B.
  absl::Status Check(const TensorSpec& spec, const std::string& field) const;

  // The sample that is the tile's first row in this micro-batch; of a checked spec. kInvalidArgument for a step below
  // 0 or a micro-batch that a step has not.
  absl::StatusOr<int64_t> First(const TensorSpec& spec, const std::string& field, int64_t step,
                                int64_t micro_batch) const;

  // The rows of the tile that are samples of this micro-batch; those behind them are padding.
  int64_t RowsOf(const TensorSpec& spec, int64_t micro_batch) const;

 private:
  const int64_t records_;
  const Options options_;
  const Permutation permutation_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_SAMPLE_ORDER_H_
