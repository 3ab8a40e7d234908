#include "runtime/data/token_batches.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::data {
namespace {

// The first so many are of any tokens, the others need documents.
constexpr const char* kFields[] = {"tokens", "labels", "documents", "positions", "loss_mask"};
constexpr int64_t kWithoutBorders = 2;

}  // namespace

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
  const auto* known = std::find(std::begin(kFields), std::end(kFields), field);
  if (known == std::end(kFields)) {
    return absl::NotFoundError(absl::StrCat(stream_->path(), ": data field: expected `", absl::StrJoin(kFields, "`, `"),
                                            "`, got `", field, "`"));
  }
  const bool mask = field == "loss_mask";
  if ((spec.dtype != DType::kI32 && !mask) || (spec.dtype != DType::kF32 && spec.dtype != DType::kU8 && mask) ||
      spec.rank() != 2 || spec.global_dims[1] != sequence_) {
    return absl::InvalidArgumentError(absl::StrCat(stream_->path(), ": `", field, "`: expected ",
                                                   mask ? "f32 or u8" : "i32", "[rows,", sequence_, "], got ",
                                                   spec.ToString()));
  }
  const bool needs_borders = known - kFields >= kWithoutBorders && !(mask && !borders_.words().masked.empty());
  if (needs_borders && !borders_.known()) {
    return absl::FailedPreconditionError(absl::StrCat(stream_->path(), ": `", field,
                                                      "`: expected documents, by an index (NAME.bin with NAME.idx) or ",
                                                      "data.end_of_document, got ", stream_->form(), " without"));
  }
  return order_.Check(spec, field);
}

absl::Status TokenBatches::CopySample(int64_t sample, const TensorSpec& spec, const std::string& field,
                                      void* out) const {
  const Columns columns{order_.RecordOf(sample) * sequence_, spec.origin[1], spec.dims[1]};
  auto* const ids = static_cast<int32_t*>(out);
  if (field == "documents") {
    borders_.Number(columns, ids);
  } else if (field == "positions") {
    borders_.Place(columns, ids);
  } else if (field != "loss_mask") {
    stream_->Copy(columns.begin + columns.from + (field == "labels" ? 1 : 0), columns.count, ids);
  } else if (spec.dtype == DType::kF32) {
    borders_.Mask(columns, static_cast<float*>(out));
  } else {
    borders_.Mask(columns, static_cast<uint8_t*>(out));
  }
  return absl::OkStatus();
}

}  // namespace weft::data
