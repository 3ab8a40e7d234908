#include "tools/run/records.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/data/record_batches.h"
#include "runtime/data/record_shards.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/names.h"
#include "tools/run/blend.h"
#include "tools/run/inputs.h"
#include "tools/run/tokens.h"

namespace weft::run {
namespace {

using Paths = std::map<std::string, std::string>;  // by field

bool IsThere(const std::string& path, bool folder) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && (!folder || S_ISDIR(info.st_mode));
}

std::string NamesText(const std::vector<InputInfo>& inputs) {
  return absl::StrCat(
      "`", absl::StrJoin(inputs, "`, `", [](std::string* out, const InputInfo& it) { *out += it.name; }), "`");
}

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(absl::StrCat("--data: ", what)); }

// "images=a.npy,labels=b.npy": a file for every input, and for nothing else.
absl::StatusOr<Paths> PathsOfList(const std::string& data, const std::vector<InputInfo>& inputs) {
  Paths paths;
  for (const absl::string_view part : absl::StrSplit(data, ',')) {
    const std::pair<std::string, std::string> field = absl::StrSplit(part, absl::MaxSplits('=', 1));
    if (field.first.empty() || field.second.empty()) {
      return Wrong(absl::StrCat("expected FIELD=FILE,..., got `", part, "`"));
    }
    if (!paths.insert(field).second) return Wrong(absl::StrCat("expected one file for `", field.first, "`, got two"));
  }
  for (const auto& [field, path] : paths) {
    const bool known =
        std::any_of(inputs.begin(), inputs.end(), [&](const InputInfo& input) { return input.name == field; });
    if (!known)
      return Wrong(absl::StrCat("expected files for what the plan reads, ", NamesText(inputs), ", got `", field, "`"));
  }
  for (const InputInfo& input : inputs) {
    if (paths.count(input.name) == 0)
      return Wrong(absl::StrCat("expected a file for `", input.name, "` too, as ", input.name, "=FILE"));
  }
  return paths;
}

absl::StatusOr<Paths> PathsOfFolder(const std::string& folder, const std::vector<InputInfo>& inputs) {
  Paths paths;
  for (const InputInfo& input : inputs) {
    std::vector<std::string> found;
    for (const char* ending : {".npy", ".npy.gz", ".idx", ".idx.gz"}) {
      const std::string path = absl::StrCat(folder, absl::EndsWith(folder, "/") ? "" : "/", input.name, ending);
      if (IsThere(path, /*folder=*/false)) found.push_back(path);
    }
    const std::string shards = absl::StrCat(folder, absl::EndsWith(folder, "/") ? "" : "/", input.name);
    if (IsThere(shards, /*folder=*/true)) found.push_back(shards);
    if (found.size() != 1) {
      return absl::InvalidArgumentError(absl::StrCat(folder, ": expected one of ", input.name, ".npy and ", input.name,
                                                     ".idx, also with .gz, or a folder of shards, for the input `",
                                                     input.name, "`, got ",
                                                     found.empty() ? "none" : absl::StrJoin(found, " and ")));
    }
    paths[input.name] = found[0];
  }
  return paths;
}

// Whether a folder's shards hold every field: files of safetensors alone.
bool HoldsSafetensors(const std::string& folder) {
  const std::vector<std::string> shards = data::ShardPaths(folder);
  return !shards.empty() && std::all_of(shards.begin(), shards.end(),
                                        [](const std::string& path) { return absl::EndsWith(path, ".safetensors"); });
}

absl::StatusOr<Paths> PathsOf(const std::string& data, const std::vector<InputInfo>& inputs) {
  const bool folder = IsThere(data, /*folder=*/true);
  if (folder && !HoldsSafetensors(data)) return PathsOfFolder(data, inputs);
  if (!folder && (!absl::EndsWith(data, ".safetensors") || absl::StrContains(data, '='))) {
    return PathsOfList(data, inputs);
  }
  Paths paths;
  for (const InputInfo& input : inputs) paths[input.name] = data;
  return paths;
}

// Samples of a step: the first dimension of every input, times the micro-batches.
absl::StatusOr<int64_t> BatchOf(const plan::Plan& plan, const std::vector<InputInfo>& inputs) {
  for (const InputInfo& input : inputs) {
    if (!input.shape.empty() && input.shape[0] == inputs[0].shape[0]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("`", input.name, "`: expected [batch, ...], with a batch of ",
                     inputs[0].shape.empty() ? 1 : inputs[0].shape[0], " as `", inputs[0].name, "`, got ",
                     input.shape.empty() ? "a scalar" : absl::StrCat("[", absl::StrJoin(input.shape, ","), "]")));
  }
  return SamplesOf(plan, inputs[0]);
}

// What the job asks for, of inputs by name. An evaluation sees the samples as they are.
absl::StatusOr<data::RecordBatches::Augmentations> AugmentationsOf(const plan::Plan& plan, const Extent& extent) {
  data::RecordBatches::Augmentations augmentations;
  if (extent.once) return augmentations;
  for (const Augmentation& augmentation : plan.header().job().data().augment()) {
    if (augmentations.emplace(augmentation.field(), augmentation).second) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("data.augment: expected one entry for `", augmentation.field(), "`, got two"));
  }
  return augmentations;
}

// Checks the numbers of an array of ids; what the largest is, for people.
absl::StatusOr<std::string> CheckIds(const plan::Plan& plan, const InputInfo& input, const data::RecordShards& shards) {
  const data::ArrayType& type = *shards.first().type;
  if (!type.integer || plan::TypeOf(input.dtype) == DType::kF32) return "";
  std::optional<IdRange> range = RangeOf(plan, input.name);
  if (!range.has_value() && type.bytes <= 4) return "";  // every value fits
  const bool table = range.has_value();
  if (!table && input.dtype != plan::I32) return "";
  if (!table) range = IdRange{"what the input's i32 has", int64_t{std::numeric_limits<int32_t>::max()} + 1};
  const int64_t least = table ? 0 : std::numeric_limits<int32_t>::min();
  int64_t largest = std::numeric_limits<int64_t>::min();
  bool whole = true;
  const auto limit = data::kLookBytes / static_cast<int64_t>(shards.arrays().size());
  for (const data::Array& array : shards.arrays()) {
    const data::IdLook look = data::LookAtIds(array, range->ignore, limit);
    for (const auto& [id, at] :
         {std::pair(look.ids.largest, look.ids.largest_at), {look.ids.least, look.ids.least_at}}) {
      if (id >= least && id < range->rows) continue;
      return absl::OutOfRangeError(absl::StrCat(array.where, ": `", input.name, "`: expected ids from ", least, " to ",
                                                range->rows - 1, ", ", range->what, ", got ", id, " in record ", at));
    }
    largest = std::max(largest, look.ids.largest);
    whole &= look.whole;
  }
  if (!table) return "";
  return absl::StrCat(" (largest ", plan::CountText(largest), " of ", plan::CountText(range->rows),
                      whole ? ")" : " in the parts that were looked at)");
}

absl::StatusOr<OpenedPart> OpenOne(const plan::Plan& plan, const std::string& data, const Extent& extent,
                                   double share) {
  const std::vector<InputInfo> inputs = InputsOf(plan);
  if (inputs.empty()) return Wrong("expected a plan that reads inputs, got none");
  const absl::StatusOr<Paths> paths = PathsOf(data, inputs);
  if (!paths.ok()) return paths.status();
  const absl::StatusOr<int64_t> batch = BatchOf(plan, inputs);
  if (!batch.ok()) return batch.status();
  data::RecordBatches::Fields fields;
  for (const auto& [name, path] : *paths) {
    absl::StatusOr<data::RecordShards> shards = data::OpenShards(path, name);
    if (!shards.ok()) return shards.status();
    fields.emplace(name, *std::move(shards));
  }
  const absl::StatusOr<data::RecordBatches::Augmentations> augmentations = AugmentationsOf(plan, extent);
  if (!augmentations.ok()) return augmentations.status();
  auto batches = data::RecordBatches::Create(
      std::move(fields),
      {.global_batch = *batch, .order = plan.header().job().data().order(), .seed = extent.seed, .once = extent.once},
      *augmentations);
  if (!batches.ok()) return batches.status();
  std::vector<std::string> texts;
  for (const InputInfo& input : inputs) {
    const data::RecordShards& shards = (*batches)->fields().at(input.name);
    const TensorSpec spec = TensorSpec::Whole(plan::TypeOf(input.dtype), input.shape);
    if (absl::Status status = (*batches)->Check(spec, input.name); !status.ok()) return status;
    const absl::StatusOr<std::string> ids = CheckIds(plan, input, shards);
    if (!ids.ok()) return ids.status();
    texts.push_back(absl::StrCat(input.name, " ", shards.first().RecordText(), *ids,
                                 augmentations->count(input.name) != 0 ? ", augmented" : ""));
  }
  const int64_t records = (*batches)->records();
  OpenedPart part{.form = (*batches)->form(), .size = records, .hash = (*batches)->Hash()};
  part.text =
      absl::StrCat(plan::CountText(records), records == 1 ? " record of " : " records of ", absl::StrJoin(texts, ", "),
                   ExtentText(extent, records, share * static_cast<double>(*batch)));
  part.set = *std::move(batches);
  return part;
}

}  // namespace

bool NamesRecords(const std::string& path) {
  if (absl::EndsWith(path, ".safetensors")) return true;
  if (IsThere(path, /*folder=*/true)) return !HoldsShards(path);
  return absl::StrContains(path, '=') && !IsThere(path, /*folder=*/false);
}

absl::StatusOr<OpenedData> OpenRecords(const plan::Plan& plan, const std::string& data, const Extent& extent) {
  return OpenParts(plan, data, extent, "data_records",
                   [&](const std::string& path, double share) { return OpenOne(plan, path, extent, share); });
}

}  // namespace weft::run
