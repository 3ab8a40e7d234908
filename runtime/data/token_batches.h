// Sequences cut from a stream of tokens.
//
// The stream is cut into windows of T + 1 tokens that begin every T tokens:
// window w holds tokens [w T, w T + T], and of n tokens (n - 1) / T windows can
// be cut. The windows are the records of a SampleOrder.
#ifndef WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
#define WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/data_set.h"
#include "runtime/data/sample_order.h"
#include "runtime/data/token_stream.h"

namespace weft::data {

// Owns its stream.
class TokenBatches : public DataSet {
 public:
  struct Options {
    int64_t sequence = 0;  // T: tokens a sequence
    SampleOrder::Options order;
  };

  // kInvalidArgument: there are not enough tokens for one step, whose sequences would be the same ones again.
  static absl::StatusOr<std::unique_ptr<TokenBatches>> Create(std::unique_ptr<const TokenStream> stream,
                                                              const Options& options);

  // `field` is "tokens" (the first T tokens of each window) or "labels" (the last T), spec is i32 with global dims
  // [rows, T], and rows divides B; both may be split.
  absl::Status Check(const TensorSpec& spec, const std::string& field) const override;
  absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                    void* out) const override;

  // Writes one row of a tile of checked spec, that of the stream's own sample `sample`.
  void CopySample(int64_t sample, const TensorSpec& spec, const std::string& field, int32_t* out) const;

  const SampleOrder& order() const { return order_; }
  // Windows in the stream: sequences an epoch.
  int64_t windows() const { return order_.records(); }
  const TokenStream& stream() const { return *stream_; }

 private:
  TokenBatches(std::unique_ptr<const TokenStream> stream, const Options& options, int64_t windows)
      : stream_(std::move(stream)), sequence_(options.sequence), order_(windows, options.order) {}

  const std::unique_ptr<const TokenStream> stream_;
  const int64_t sequence_;
  const SampleOrder order_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
