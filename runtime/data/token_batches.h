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
#include "runtime/data/document_borders.h"
#include "runtime/data/sample_order.h"
#include "runtime/data/sample_set.h"
#include "runtime/data/token_stream.h"

namespace weft::data {

// Owns its stream.
class TokenBatches : public SampleSet {
 public:
  struct Options {
    int64_t sequence = 0;  // T: tokens a sequence
    TokenWords words;
    SampleOrder::Options order;
  };

  // kInvalidArgument: there are not enough tokens for one step, whose sequences would be the same ones again.
  static absl::StatusOr<std::unique_ptr<TokenBatches>> Create(std::unique_ptr<const TokenStream> stream,
                                                              const Options& options);

  // `field` is one of these, and spec has global dims [rows, T], where rows is at most B; both may be split:
  //   tokens      i32        the first T tokens of each window
  //   labels      i32        the last T
  //   documents   i32        the number of each token's document in the window
  //   positions   i32        the token's place in its document, or in the window if the document began before it
  //   loss_mask   f32 or u8  1, and 0 where the label belongs to another document than the token, or is masked
  // kFailedPrecondition: of one of the last three, if nothing says where documents begin.
  absl::Status Check(const TensorSpec& spec, const std::string& field) const override;
  absl::Status CopySample(int64_t sample, const TensorSpec& spec, const std::string& field, void* out) const override;

  const SampleOrder& order() const override { return order_; }
  // Windows in the stream: sequences an epoch.
  int64_t windows() const { return order_.records(); }
  const TokenStream& stream() const { return *stream_; }

 private:
  TokenBatches(std::unique_ptr<const TokenStream> stream, const Options& options, int64_t windows)
      : stream_(std::move(stream)),
        sequence_(options.sequence),
        order_(windows, options.order),
        borders_(*stream_, options.words) {}

  const std::unique_ptr<const TokenStream> stream_;
  const int64_t sequence_;
  const SampleOrder order_;
  const DocumentBorders borders_;
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
