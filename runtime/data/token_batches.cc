#include "runtime/data/token_batches.h"

#include "absl/strings/str_cat.h"

namespace weft::data {

absl::StatusOr<std::unique_ptr<const TokenBatches>> TokenBatches::Create(std::unique_ptr<const TokenFile> file,
                                                                         const Options& options) {
  if (options.sequence < 1 || options.global_batch < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("batches: expected at least one sequence of at least one token, got ", options.global_batch,
                     " of ", options.sequence));
  }
  const int64_t windows = (file->size() - 1) / options.sequence;
  if (windows < options.global_batch) {
    return absl::InvalidArgumentError(
        absl::StrCat(file->path(), ": expected at least ", options.global_batch * options.sequence + 1, " tokens, for ",
                     options.global_batch, options.global_batch == 1 ? " sequence" : " sequences", " a step of ",
                     options.sequence, " each and a label for the last, got ", file->size()));
  }
  return std::unique_ptr<const TokenBatches>(new TokenBatches(std::move(file), options, windows));
}

absl::Status TokenBatches::Check(const TensorSpec& spec, const std::string& field) const {
  if (field != "tokens" && field != "labels") {
    return absl::NotFoundError(absl::StrCat("data field: expected `tokens` or `labels`, got `", field, "`"));
  }
  if (spec.dtype != DType::kI32 || spec.rank() != 2 || spec.global_dims[1] != options_.sequence) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", field, "`: expected i32[rows,", options_.sequence, "], got ", spec.ToString()));
  }
  if (spec.global_dims[0] < 1 || options_.global_batch % spec.global_dims[0] != 0) {
    return absl::InvalidArgumentError(absl::StrCat("`", field, "`: expected rows that divide the batch of ",
                                                   options_.global_batch, ", got ", spec.global_dims[0]));
  }
  for (int d = 0; d < 2; ++d) {
    if (spec.origin[d] < 0 || spec.dims[d] < 0 || spec.origin[d] + spec.dims[d] > spec.global_dims[d]) {
      return absl::InvalidArgumentError(
          absl::StrCat("`", field, "`: expected a tile inside the tensor, got ", spec.ToString()));
    }
  }
  return absl::OkStatus();
}

int64_t TokenBatches::Position(int64_t sequence_index) const {
  const int64_t epoch = sequence_index / windows_, index = sequence_index % windows_;
  return (options_.order == SEQUENTIAL ? index : permutation_.At(epoch, index)) * options_.sequence;
}

absl::Status TokenBatches::Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                                void* out) const {
  if (absl::Status status = Check(spec, field); !status.ok()) return status;
  const int64_t rows = spec.global_dims[0], micro_batches = options_.global_batch / rows;
  if (step < 0 || micro_batch < 0 || micro_batch >= micro_batches) {
    return absl::InvalidArgumentError(absl::StrCat("`", field, "`: expected micro-batch 0 to ", micro_batches - 1,
                                                   " of a step from 0, got ", micro_batch, " of step ", step));
  }
  const int64_t first = step * options_.global_batch + micro_batch * rows + spec.origin[0];
  const int64_t column = spec.origin[1] + (field == "labels" ? 1 : 0);
  for (int64_t row = 0; row < spec.dims[0]; ++row) {
    file_->Copy(Position(first + row) + column, spec.dims[1], static_cast<int32_t*>(out) + row * spec.dims[1]);
  }
  return absl::OkStatus();
}

}  // namespace weft::data
