// Sequences cut from a stream of tokens.
//
// The stream is cut into windows of T + 1 tokens that begin every T tokens:
// window w holds tokens [w T, w T + T], and of n tokens (n - 1) / T windows can
// be cut. The windows are the records of a SampleOrder.
#ifndef WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_
#define WEFT_RUNTIME_DATA_TOKEN_BATCHES_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/tensor_spec.h"
#include "runtime/data/data_set.h"
#include "runtime/data/document_borders.h"
#include "runtime/data/sample_order.h"
#include "runtime/data/token_stream.h"

namespace weft::data {

// Owns its stream.
class TokenBatches : public DataSet {
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
  absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                    void* out) const override;

  // As Fill, where copy(sample, row) writes the row of a sample of the run; what lies behind the batch is 0.
  template <typename Copy>
  absl::Status FillRows(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch, void* out,
                        Copy&& copy) const {
    if (absl::Status status = Check(spec, field); !status.ok()) return status;
    const absl::StatusOr<int64_t> first = order_.First(spec, field, step, micro_batch);
    if (!first.ok()) return first.status();
    auto* const bytes = static_cast<uint8_t*>(out);
    const int64_t rows = order_.RowsOf(spec, micro_batch), row_bytes = spec.dims[1] * SizeOf(spec.dtype);
    for (int64_t row = 0; row < rows; ++row) copy(*first + row, bytes + row * row_bytes);
    std::memset(bytes + rows * row_bytes, 0, (spec.dims[0] - rows) * row_bytes);
    return absl::OkStatus();
  }

  // Writes one row of a tile of checked spec, that of the stream's own sample `sample`.
  void CopySample(int64_t sample, const TensorSpec& spec, const std::string& field, void* out) const;

  const SampleOrder& order() const { return order_; }
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
