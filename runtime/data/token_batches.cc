#include "runtime/data/token_batches.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace weft::data {

absl::StatusOr<std::unique_ptr<TokenBatches>> TokenBatches::Create(std::unique_ptr<const TokenStream> stream,
                                                                   const Options& options) {
  const int64_t batch = options.order.global_batch;
  if (options.sequence < 1 || batch < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "batches: expected at least one sequence of at least one token, got ", batch, " of ", options.sequence));
  }
  const int64_t windows = (stream->size() - 1) / options.sequence;
  if (const int64_t least = options.order.least_records(); windows < least) {
    return absl::InvalidArgumentError(absl::StrCat(stream->path(), ": expected at least ", least * options.sequence + 1,
                                                   " tokens, for ", least, least == 1 ? " sequence" : " sequences",
                                                   " a step of ", options.sequence,
                                                   " each and a label for the last, got ", stream->size()));
  }
  return std::unique_ptr<TokenBatches>(new TokenBatches(std::move(stream), options, windows));
}

absl::Status TokenBatches::Check(const TensorSpec& spec, const std::string& field) const {
  if (field != "tokens" && field != "labels") {
    return absl::NotFoundError(
        absl::StrCat(stream_->path(), ": data field: expected `tokens` or `labels`, got `", field, "`"));
  }
  if (spec.dtype != DType::kI32 || spec.rank() != 2 || spec.global_dims[1] != sequence_) {
    return absl::InvalidArgumentError(
        absl::StrCat(stream_->path(), ": `", field, "`: expected i32[rows,", sequence_, "], got ", spec.ToString()));
  }
  return order_.Check(spec, field);
}

absl::Status TokenBatches::Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                                void* out) const {
  if (absl::Status status = Check(spec, field); !status.ok()) return status;
  const absl::StatusOr<int64_t> first = order_.First(spec, field, step, micro_batch);
  if (!first.ok()) return first.status();
  auto* const ids = static_cast<int32_t*>(out);
  const int64_t rows = order_.RowsOf(spec, micro_batch);
  for (int64_t row = 0; row < rows; ++row) CopySample(*first + row, spec, field, ids + row * spec.dims[1]);
  std::fill(ids + rows * spec.dims[1], ids + spec.elements(), 0);
  return absl::OkStatus();
}

void TokenBatches::CopySample(int64_t sample, const TensorSpec& spec, const std::string& field, int32_t* out) const {
  const int64_t column = spec.origin[1] + (field == "labels" ? 1 : 0);
  stream_->Copy(order_.RecordOf(sample) * sequence_ + column, spec.dims[1], out);
}

}  // namespace weft::data
