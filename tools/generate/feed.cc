#include "tools/generate/feed.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"

namespace weft::generate {
namespace {

class FeedField : public executor::BatchField {
 public:
  FeedField(const Sequences* sequences, TensorSpec spec, bool positions)
      : sequences_(*sequences), spec_(std::move(spec)), positions_(positions) {}

  absl::Status Fill(int64_t, int64_t, void* tile) override {
    auto* to = static_cast<int32_t*>(tile);
    for (int64_t b = spec_.origin[0]; b < spec_.origin[0] + spec_.dims[0]; ++b) {
      const std::vector<int32_t>& tokens = sequences_.tokens[static_cast<size_t>(b)];
      const int64_t last = static_cast<int64_t>(tokens.size()) - 1;
      for (int64_t i = spec_.origin[1]; i < spec_.origin[1] + spec_.dims[1]; ++i) {
        const int64_t at = std::min(sequences_.done[static_cast<size_t>(b)] + i, last);
        *to++ = positions_ ? static_cast<int32_t>(at) : tokens[static_cast<size_t>(at)];
      }
    }
    return absl::OkStatus();
  }

 private:
  const Sequences& sequences_;
  const TensorSpec spec_;
  const bool positions_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<executor::BatchField>> Feed::Bind(const executor::Port& port) {
  const bool positions = port.name == "positions";
  if ((!positions && port.name != "tokens") || port.spec.dtype != DType::kI32 || port.spec.rank() != 2 ||
      port.spec.global_dims[0] != static_cast<int64_t>(sequences_.tokens.size())) {
    return absl::InvalidArgumentError(absl::StrCat("input `", port.name, "`: expected `tokens` or `positions`, i32[",
                                                   sequences_.tokens.size(), ",...], got ", port.spec.ToString()));
  }
  return std::make_unique<FeedField>(&sequences_, port.spec, positions);
}

class Choices::Field : public executor::ResultField {
 public:
  Field(Choices* choices, const executor::Port& port)
      : choices_(*choices), spec_(port.spec), primary_(port.primary), sampler_(choices->sampling_) {}

  absl::Status Take(int64_t, int64_t, const void* tile) override {
    if (!primary_) return absl::OkStatus();
    const int64_t inside = spec_.InsideDims()[0], row = spec_.dims[1] * spec_.dims[2];
    for (int64_t i = 0; i < inside; ++i) {
      const int64_t b = spec_.origin[0] + i;
      const absl::Span<const float> logits(static_cast<const float*>(tile) + i * row,
                                           static_cast<size_t>(choices_.vocabulary_));
      const auto position = static_cast<int64_t>(choices_.sequences_.tokens[static_cast<size_t>(b)].size());
      const int32_t token = sampler_.Choose(logits, b, position);
      std::lock_guard<std::mutex> lock(choices_.mutex_);
      choices_.choices_.push_back({static_cast<int32_t>(b), token});
    }
    return absl::OkStatus();
  }

 private:
  Choices& choices_;
  const TensorSpec spec_;
  const bool primary_;
  Sampler sampler_;
};

absl::StatusOr<std::unique_ptr<executor::ResultField>> Choices::Bind(const executor::Port& port) {
  const TensorSpec& spec = port.spec;
  if (spec.dtype != DType::kF32 || spec.rank() != 3 || spec.global_dims[1] != 1 || spec.origin[1] != 0 ||
      spec.dims[2] < vocabulary_) {
    return absl::InvalidArgumentError(absl::StrCat("output `", port.name,
                                                   "`: expected all logits of a token, f32[...,1,", vocabulary_,
                                                   "], got ", spec.ToString()));
  }
  return std::make_unique<Field>(this, port);
}

std::vector<Choices::Choice> Choices::Take() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(choices_, {});
}

}  // namespace weft::generate
