#include "tools/run/init.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/file.h"
#include "runtime/checkpoint/tile.h"
#include "runtime/plan/names.h"
#include "runtime/plan/stored.h"
#include "tools/hugging_face/folder.h"
#include "tools/hugging_face/names.h"

namespace weft::run {
namespace {

using checkpoint::ShapeText;
using checkpoint::Weights;
using executor::Executor;
using executor::StateTile;
using hugging_face::Names;
using hugging_face::Rename;

constexpr size_t kNamesShown = 8;
constexpr int64_t kMostHashed = int64_t{64} << 20;

// "`a`, `b` and 3 more".
std::string NamesText(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text;
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, i == 0 ? "`" : ", `", names[i], "`");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

absl::StatusOr<Names> NamesOf(const Context& context, const Weights& weights) {
  const auto& prefixes = context.plan.header().job().checkpoint().prefixes();
  std::vector<Rename> renames;
  for (const std::string& text : context.request.renames) {
    absl::StatusOr<Rename> rename = hugging_face::ParseRename(text);
    if (!rename.ok()) return rename.status();
    renames.push_back(*std::move(rename));
  }
  absl::StatusOr<Names> names = Names::Of(hugging_face::NamesIn(weights), {prefixes.begin(), prefixes.end()}, renames);
  if (names.ok()) return names;
  return absl::Status(names.status().code(), absl::StrCat(weights.path(), ": ", names.status().message()));
}

// What is lacking is an error, unless the request is for a part, and there is one.
absl::Status CheckLacking(const Context& context, const Weights& weights, const hugging_face::Match& match) {
  const std::vector<std::string>& lacking = match.lacking;
  if (lacking.empty() || (context.request.init_partial && !match.found.empty())) return absl::OkStatus();
  std::string text =
      absl::StrCat(weights.path(), ": expected a tensor `", lacking[0], "`, got ", weights.NamesLike(lacking[0]));
  if (lacking.size() > 1) absl::StrAppend(&text, "; also lacking: ", NamesText({lacking.begin() + 1, lacking.end()}));
  if (!match.found.empty()) absl::StrAppend(&text, "; pass --init-partial to begin with initial values there");
  return absl::NotFoundError(text);
}

// Of the names, types and shapes, and of the tensors up to 64 MiB together.
absl::StatusOr<std::string> HashOf(const Weights& weights) {
  uint64_t hash = weights.header_checksum();
  int64_t left = kMostHashed;
  for (const auto& [name, tensor] : weights.tensors()) {
    const checkpoint::TensorEntry& entry = *tensor.entry;
    if (entry.end - entry.begin > left || entry.dtype == DType::kInvalid) continue;
    left -= entry.end - entry.begin;
    const absl::StatusOr<uint64_t> checksum = tensor.file->ChecksumOf(entry);
    if (!checksum.ok()) return checksum.status();
    hash += *checksum;
  }
  return checkpoint::ToHex(hash);
}

// A tile of a tensor as if the tensor had so many rows: what is below them is padding.
TensorSpec OfRows(TensorSpec spec, int64_t rows) {
  if (spec.padded_dims.empty()) spec.padded_dims = spec.global_dims;
  spec.global_dims[0] = rows;
  return spec;
}

}  // namespace

absl::Status InitialParameters::CheckShapes(const Context& context) {
  for (const auto& [name, shape] : plan::StoredParametersOf(context.plan)) {
    const auto found = match_.found.find(name);
    if (found == match_.found.end() || found->second.entry->shape == shape) continue;
    const checkpoint::TensorEntry& entry = *found->second.entry;
    const bool fewer = entry.shape.size() == shape.size() && !shape.empty() && entry.shape[0] < shape[0] &&
                       std::equal(shape.begin() + 1, shape.end(), entry.shape.begin() + 1);
    if (fewer && context.request.init_partial) {
      rows_[name] = entry.shape[0];
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat(found->second.file->path(), ": `", entry.name, "`: shape: expected ", ShapeText(shape), ", got ",
                     ShapeText(entry.shape),
                     fewer ? "; --init-partial begins with initial values in the rows that are lacking" : ""));
  }
  return absl::OkStatus();
}

std::string InitialParameters::Describe() const {
  const size_t all = match_.found.size() + match_.lacking.size();
  std::string text = absl::StrCat(weights_->path(), ": loaded ", match_.found.size(), " of ", all, " parameters");
  if (!match_.lacking.empty()) absl::StrAppend(&text, "; with initial values: ", NamesText(match_.lacking));
  for (const auto& [name, rows] : rows_)
    absl::StrAppend(&text, "; with initial values from row ", plan::CountText(rows), " on: `", name, "`");
  if (!match_.copies.empty()) absl::StrAppend(&text, "; the same as their ties: ", NamesText(match_.copies));
  if (!match_.unused.empty()) absl::StrAppend(&text, "; of no use here: ", NamesText(match_.unused));
  return text;
}

absl::Status InitialParameters::ReadCompanions(const std::string& folder) {
  auto companions = hugging_face::ReadCompanions(folder);
  if (!companions.ok()) return companions.status();
  companions_ = *std::move(companions);
  const auto config = companions_.find(hugging_face::kConfigFile);
  if (config == companions_.end()) return absl::OkStatus();
  if (!match_.lacking.empty() || !rows_.empty()) {  // the model is another one
    companions_.erase(config);
    return absl::OkStatus();
  }
  auto json = hugging_face::ParseObject(absl::StrCat(folder, "/", hugging_face::kConfigFile), config->second);
  if (!json.ok()) return json.status();
  hugging_face::SetType(DType::kF32, *json);  // as parameters are, and so checkpoints
  config->second = hugging_face::TextOf(*json);
  return absl::OkStatus();
}

absl::StatusOr<InitialParameters> InitialParameters::OpenPath(const Context& context) {
  InitialParameters init;
  auto opened = Weights::Open(context.request.init);
  if (!opened.ok()) return opened.status();
  init.weights_ = *std::move(opened);
  const Weights& weights = *init.weights_;
  const absl::StatusOr<Names> names = NamesOf(context, weights);
  if (!names.ok()) return names.status();
  std::set<std::string> parameters;
  for (const auto& [name, shape] : plan::StoredParametersOf(context.plan)) parameters.insert(name);
  init.match_ = hugging_face::MatchParameters(weights, *names, parameters);
  if (absl::Status status = CheckLacking(context, weights, init.match_); !status.ok()) return status;
  if (absl::Status status = init.CheckShapes(context); !status.ok()) return status;
  if (context.processes.first()) {
    if (absl::Status status = hugging_face::CheckCopies(weights, *names, init.match_); !status.ok()) return status;
    std::error_code none;
    const bool folder = std::filesystem::is_directory(context.request.init, none);
    const absl::Status read = folder ? init.ReadCompanions(checkpoint::Parent(weights.path())) : absl::OkStatus();
    if (!read.ok()) return read;
  }
  init.text_ = init.Describe();
  return init;
}

absl::StatusOr<InitialParameters> InitialParameters::Open(const Context& context) {
  if (context.request.init.empty()) return InitialParameters();
  Processes& processes = context.processes;
  absl::StatusOr<InitialParameters> init = OpenPath(context);
  if (absl::Status status = processes.Agree(init.status()); !status.ok()) return status;
  if (processes.alone()) return init;
  const absl::StatusOr<std::string> hash = HashOf(*init->weights_);
  if (absl::Status status = processes.Agree(hash.status()); !status.ok()) return status;
  if (absl::Status status = processes.CheckSame({{"--init: hash", *hash}}); !status.ok()) return status;
  return init;
}

std::set<std::string> InitialParameters::loaded() const {
  std::set<std::string> names;
  for (const auto& [name, tensor] : match_.found) {
    if (rows_.count(name) == 0) names.insert(name);
  }
  return names;
}

absl::Status InitialParameters::Load(const Context& context, executor::Cluster& cluster) const {
  if (weights_ == nullptr) return absl::OkStatus();
  return context.processes.Agree(cluster.OnEveryRank([&](Executor& executor) -> absl::Status {
    for (const StateTile& tile : executor.state()) {
      if (tile.optimizer) continue;
      const auto found = match_.found.find(tile.name);
      if (found == match_.found.end()) continue;
      const auto rows = rows_.find(tile.name);
      std::vector<int64_t> shape = tile.stored_shape;
      TensorSpec spec = tile.spec;
      std::vector<char> before;  // of a tile that is filled in part
      if (rows != rows_.end()) {
        if (spec.global_dims != shape) {
          return absl::InvalidArgumentError(absl::StrCat(weights_->path(), ": `", found->second.entry->name,
                                                         "`: shape: expected ", ShapeText(shape), ", got ",
                                                         ShapeText(found->second.entry->shape)));
        }
        shape[0] = rows->second;
        spec = OfRows(spec, rows->second);
        before.resize(spec.bytes());
        const absl::Status saved = executor.SaveTile(tile, [&](const void* bytes) {
          std::memcpy(before.data(), bytes, before.size());
          return absl::OkStatus();
        });
        if (!saved.ok()) return saved;
      }
      const absl::Status loaded = executor.LoadTile(tile, [&](void* bytes) {
        if (!before.empty()) std::memcpy(bytes, before.data(), before.size());
        return weights_->Read(found->second, spec, shape, bytes);
      });
      if (!loaded.ok()) return loaded;
    }
    return absl::OkStatus();
  }));
}

}  // namespace weft::run
