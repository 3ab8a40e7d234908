#include "tools/run/sources.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/data/prefetched.h"
#include "runtime/plan/names.h"
#include "tools/run/blend.h"
#include "tools/run/records.h"
#include "tools/run/tokens.h"

namespace weft::run {
namespace {

class TensorSource : public executor::BatchSource {
 public:
  explicit TensorSource(std::unique_ptr<const checkpoint::SafetensorsReader> file) : file_(std::move(file)) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    absl::StatusOr<const checkpoint::TensorEntry*> entry = file_->Find(port.name);
    if (!entry.ok()) return entry.status();
    return std::make_unique<Field>(*file_, **entry, port.spec);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const checkpoint::SafetensorsReader& file, const checkpoint::TensorEntry& entry, TensorSpec spec)
        : file_(file), entry_(entry), spec_(std::move(spec)) {}
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      return file_.Read(entry_, spec_, spec_.global_dims, checkpoint::Conversion::kWiden, tile);
    }

   private:
    const checkpoint::SafetensorsReader& file_;
    const checkpoint::TensorEntry& entry_;
    const TensorSpec spec_;
  };

  const std::unique_ptr<const checkpoint::SafetensorsReader> file_;
};

}  // namespace

std::string ExtentText(const Extent& extent, int64_t samples, double batch) {
  // Of a blend a batch may have less than one sample of a part, but not where each is read once.
  const int64_t all = extent.once ? StepsFor(samples, static_cast<int64_t>(batch)) : extent.steps;
  const int64_t steps = extent.once && extent.steps > 0 ? std::min(extent.steps, all) : all;
  if (steps == 0) return "";
  const std::string in_steps = absl::StrCat(" in ", plan::CountText(steps), steps == 1 ? " step" : " steps");
  if (extent.once && steps < all)
    return absl::StrCat(", the first ", plan::CountText(steps * static_cast<int64_t>(batch)), ",", in_steps);
  if (extent.once) return absl::StrCat(", each once,", in_steps);
  const double epochs = batch * static_cast<double>(steps) / static_cast<double>(samples);
  const std::string text = epochs < 0.01  ? "less than 0.01"
                           : epochs < 100 ? absl::StrFormat("%.2g", epochs)
                                          : plan::CountText(static_cast<int64_t>(epochs));
  return absl::StrCat(", ", text, text == "1" ? " epoch" : " epochs", in_steps);
}

absl::StatusOr<OpenedData> OpenData(const plan::Plan& plan, const std::string& path, const Extent& extent) {
  const absl::StatusOr<std::vector<Part>> parts = PartsOf(path);
  if (!parts.ok()) return parts.status();
  absl::StatusOr<OpenedData> opened =
      NamesRecords(parts->front().path) ? OpenRecords(plan, path, extent) : OpenTokens(plan, path, extent);
  if (!opened.ok()) return opened.status();
  opened->source = std::make_unique<data::Prefetched>(std::move(opened->source), plan.header().micro_batches());
  return opened;
}

absl::Status CheckSameData(Processes& processes, const OpenedData& data) {
  Processes::Facts facts(data.record.begin(), data.record.end());
  std::erase_if(facts, [](const auto& fact) { return fact.first == "data"; });
  return processes.CheckSame(facts);
}

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path) {
  absl::StatusOr<std::unique_ptr<const checkpoint::SafetensorsReader>> file = checkpoint::SafetensorsReader::Open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<TensorSource>(*std::move(file));
}

}  // namespace weft::run
