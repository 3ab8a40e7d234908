#include "tools/run/blend.h"

#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "ops/abi/philox.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/data/blended_batches.h"
#include "runtime/plan/enums.h"
#include "tools/run/inputs.h"

namespace weft::run {

absl::StatusOr<std::vector<Part>> PartsOf(const std::string& data) {
  const std::vector<std::string> words = absl::StrSplit(data, ' ', absl::SkipEmpty());
  double weight = 0;
  std::error_code none;
  if (words.size() < 2 || !absl::SimpleAtod(words[0], &weight) || std::filesystem::exists(data, none)) {
    return std::vector<Part>{{1, data}};
  }
  std::vector<Part> parts;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (!absl::SimpleAtod(words[i], &weight) || i + 1 == words.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--data: expected weights and files in turn, as in `0.7 a.bin 0.3 b.bin`, got `", data, "`"));
    }
    parts.push_back({weight, words[i + 1]});
  }
  return parts;
}

absl::StatusOr<OpenedData> OpenParts(const plan::Plan& plan, const std::string& data, const Extent& extent,
                                     const char* unit, const OpenPart& open) {
  const absl::StatusOr<std::vector<Part>> parts = PartsOf(data);
  if (!parts.ok()) return parts.status();
  if (extent.once && parts->size() > 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data: expected one data set, as each sample is read once, got a blend of ", parts->size()));
  }
  std::vector<double> weights;
  for (const Part& part : *parts) weights.push_back(part.weight);
  absl::StatusOr<data::Blend> blend = data::Blend::Create(weights);
  if (!blend.ok()) return absl::InvalidArgumentError(absl::StrCat("--data: ", blend.status().message()));
  OpenedData all;
  std::vector<std::string> texts;
  std::set<std::string> forms;
  int64_t size = 0;
  uint64_t hash = 0;
  std::vector<std::unique_ptr<data::SampleSet>> sets;
  for (size_t i = 0; i < parts->size(); ++i) {
    const int64_t in_period = blend->shares()[i];
    const double share = static_cast<double>(in_period) / data::Blend::kPeriod;
    absl::StatusOr<OpenedPart> opened = open((*parts)[i].path, share);
    if (!opened.ok()) return opened.status();
    texts.push_back(absl::StrCat((*parts)[i].path, ": ", opened->text,
                                 share < 1 ? absl::StrFormat(", %.4g %% of what is read", 100 * share) : ""));
    forms.insert(opened->form);
    size += opened->size;
    all.samples += opened->set->order().records();
    hash = parts->size() == 1 ? opened->hash : MixSeed(hash ^ opened->hash, in_period);
    for (const InputInfo& input : InputsOf(plan)) {
      const TensorSpec spec = TensorSpec::Whole(plan::TypeOf(input.dtype), input.shape);
      if (absl::Status status = opened->set->Check(spec, input.name); !status.ok()) return status;
    }
    sets.push_back(std::move(opened->set));
  }
  all.batch = sets[0]->order().global_batch();
  all.record = {{"data", data},
                {"data_form", absl::StrJoin(forms, ", ")},
                {unit, absl::StrCat(size)},
                {"data_hash", checkpoint::ToHex(hash)}};
  all.text = absl::StrJoin(texts, "\n");
  if (sets.size() == 1) {
    all.source = std::move(sets[0]);
  } else {
    all.source = std::make_unique<data::BlendedBatches>(std::move(sets), *std::move(blend));
  }
  return all;
}

}  // namespace weft::run
