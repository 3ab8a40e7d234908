#include "tools/run/sample_results.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ops/abi/dtype.h"
#include "tools/run/results.h"

namespace weft::run {
namespace {

double NumberAt(DType dtype, const void* elements, int64_t at) {
  const auto load = [&](auto value) {
    std::memcpy(&value, static_cast<const char*>(elements) + at * sizeof(value), sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kF32:
      return load(float{});
    case DType::kF64:
      return load(double{});
    case DType::kBF16:
      return ToFloat(load(BFloat16{}));
    case DType::kF16:
      return ToFloat(load(Float16{}));
    case DType::kI32:
      return load(int32_t{});
    case DType::kI64:
      return static_cast<double>(load(int64_t{}));
    case DType::kU8:
      return load(uint8_t{});
    case DType::kInvalid:
      break;
  }
  return 0;
}

}  // namespace

class SampleResults::Field : public executor::ResultField {
 public:
  // `numbers`: null unless they are kept.
  Field(const SampleResults& results, const executor::Port& port, Numbers* numbers)
      : results_(results), name_(port.name), spec_(port.spec), numbers_(numbers) {}

  absl::Status Take(int64_t step, int64_t, const void* tile) override {
    const int64_t first = step * results_.batch_ + spec_.origin[0];
    const int64_t rows = std::min(spec_.InsideDims()[0], results_.samples_ - first);
    if (rows <= 0) return absl::OkStatus();
    for (int64_t row = 0; numbers_ != nullptr && row < rows; ++row) {
      numbers_->values[first + row] = NumberAt(spec_.dtype, tile, row);
      numbers_->known[first + row] = 1;
    }
    if (results_.file_ == nullptr) return absl::OkStatus();
    TensorSpec part = spec_;
    part.global_dims[0] = results_.samples_;
    if (!part.padded_dims.empty()) part.padded_dims[0] = results_.samples_;
    part.origin[0] = first;
    part.dims[0] = rows;
    return results_.file_->Write(name_, part, tile);
  }

 private:
  const SampleResults& results_;
  const std::string name_;
  const TensorSpec spec_;
  Numbers* const numbers_;
};

// Where several ranks hold a tile.
class Ignored : public executor::ResultField {
 public:
  absl::Status Take(int64_t, int64_t, const void*) override { return absl::OkStatus(); }
};

absl::Status SampleResults::Check(const InputInfo& output, int64_t batch) {
  if (!output.shape.empty() && output.shape[0] == batch) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--data: output `", output.name, "`: expected values of each sample, [batch, ...] with a batch of ",
                   batch, ", so that what fills the last step does not count, got ",
                   output.shape.empty() ? "a scalar" : absl::StrCat("[", absl::StrJoin(output.shape, ","), "]")));
}

SampleResults::SampleResults(const std::vector<InputInfo>& outputs, int64_t samples, int64_t batch, OutputFile* file)
    : samples_(samples), batch_(batch), file_(file) {
  for (const InputInfo& output : outputs) {
    if (IsNumber(output)) numbers_[output.name] = {std::vector<double>(samples), std::vector<char>(samples)};
  }
}

absl::StatusOr<std::unique_ptr<executor::ResultField>> SampleResults::Bind(const executor::Port& port) {
  if (absl::Status status = CheckWhole(port); !status.ok()) return status;
  if (!port.primary) return std::make_unique<Ignored>();
  const auto numbers = numbers_.find(port.name);
  return std::make_unique<Field>(*this, port, numbers == numbers_.end() ? nullptr : &numbers->second);
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> SampleResults::Means(Processes& processes) const {
  // Each process has the rows of its ranks.
  std::vector<std::pair<std::string, double>> means;
  for (const auto& [name, own] : numbers_) {
    std::string bytes(reinterpret_cast<const char*>(own.values.data()), own.values.size() * sizeof(double));
    bytes.append(own.known.data(), own.known.size());
    const absl::StatusOr<std::vector<std::string>> all = processes.AllGather(bytes);
    if (!all.ok()) return all.status();
    double sum = 0;
    for (int64_t i = 0; i < samples_; ++i) {
      const auto holder = std::find_if(all->begin(), all->end(),
                                       [&](const std::string& one) { return one[samples_ * sizeof(double) + i] != 0; });
      if (holder == all->end()) return absl::InternalError(absl::StrCat("output `", name, "`: no sample ", i));
      double value = 0;
      std::memcpy(&value, holder->data() + i * sizeof(double), sizeof(double));
      sum += value;
    }
    means.emplace_back(name, sum / static_cast<double>(samples_));
  }
  return means;
}

}  // namespace weft::run
