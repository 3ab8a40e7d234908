#include "tools/run/init.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/plan/stored.h"

namespace weft::run {
namespace {

using checkpoint::CheckpointReader;
using checkpoint::SafetensorsReader;
using executor::Executor;
using executor::StateTile;

constexpr size_t kNamesShown = 8;
constexpr int64_t kMostHashed = int64_t{64} << 20;

std::vector<std::string> PrefixesOf(const Context& context) {
  const auto& prefixes = context.plan.header().job().checkpoint().prefixes();
  return {prefixes.begin(), prefixes.end()};
}

std::set<std::string> ParametersOf(const plan::Plan& plan) {
  std::set<std::string> names;
  for (const plan::Stage& stage : plan.stages()) {
    for (const plan::Buffer& buffer : stage.buffers()) {
      if (buffer.kind() != plan::Buffer::PARAMETER || buffer.alias_of() != 0) continue;
      for (const plan::StoredTensor& tensor : plan::StoredTensorsOf(buffer)) names.insert(tensor.name);
    }
  }
  return names;
}

// "`a`, `b` and 3 more".
std::string NamesText(const std::vector<std::string>& names) {
  const size_t shown = std::min(names.size(), kNamesShown);
  std::string text;
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, i == 0 ? "`" : ", `", names[i], "`");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

// What of the parameters the file has, as text.
absl::StatusOr<std::string> Match(const Context& context, const SafetensorsReader& file) {
  const std::set<std::string> parameters = ParametersOf(context.plan);
  std::set<std::string> used;
  std::vector<std::string> lacking, unused;
  absl::Status first;
  for (const std::string& name : parameters) {
    const auto entry = file.Find(name, PrefixesOf(context));
    if (entry.ok()) {
      used.insert((*entry)->name);
    } else {
      lacking.push_back(name);
      if (first.ok()) first = entry.status();
    }
  }
  if (!lacking.empty() && (!context.request.init_partial || used.empty())) {
    std::string text(first.message());
    if (lacking.size() > 1) absl::StrAppend(&text, "; also lacking: ", NamesText({lacking.begin() + 1, lacking.end()}));
    if (!used.empty()) absl::StrAppend(&text, "; pass --init-partial to begin with initial values there");
    return absl::Status(first.code(), text);
  }
  for (const checkpoint::TensorEntry& entry : file.header().tensors) {
    if (used.count(entry.name) == 0) unused.push_back(entry.name);
  }
  return absl::StrCat(file.path(), ": loaded ", parameters.size() - lacking.size(), " of ", parameters.size(),
                      " parameters", lacking.empty() ? "" : "; with initial values: ", NamesText(lacking),
                      unused.empty() ? "" : "; of no use here: ", NamesText(unused));
}

// Of the names, types and shapes, and of the tensors up to 64 MiB together.
absl::StatusOr<std::string> HashOf(const SafetensorsReader& file) {
  uint64_t hash = file.header().checksum;
  int64_t left = kMostHashed;
  for (const checkpoint::TensorEntry& entry : file.header().tensors) {
    if (entry.end - entry.begin > left || entry.dtype == DType::kInvalid) continue;
    left -= entry.end - entry.begin;
    const absl::StatusOr<uint64_t> checksum = file.ChecksumOf(entry);
    if (!checksum.ok()) return checksum.status();
    hash += *checksum;
  }
  return checkpoint::ToHex(hash);
}

}  // namespace

absl::StatusOr<InitialParameters> InitialParameters::OpenPath(const Context& context) {
  InitialParameters init;
  std::string file = context.request.init;
  std::error_code none;
  if (std::filesystem::is_directory(file, none)) {
    auto opened = CheckpointReader::Open(file);
    if (!opened.ok()) return opened.status();
    init.checkpoint_ = *std::move(opened);
    file = absl::StrCat(init.checkpoint_->path(), "/", checkpoint::kModelFile);
  }
  auto opened = SafetensorsReader::Open(file);
  if (!opened.ok()) return opened.status();
  init.file_ = *std::move(opened);
  absl::StatusOr<std::string> matched = Match(context, *init.file_);
  if (!matched.ok()) return matched.status();
  init.text_ = *std::move(matched);
  return init;
}

absl::StatusOr<InitialParameters> InitialParameters::Open(const Context& context) {
  if (context.request.init.empty()) return InitialParameters();
  Processes& processes = context.processes;
  absl::StatusOr<InitialParameters> init = OpenPath(context);
  if (absl::Status status = processes.Agree(init.status()); !status.ok()) return status;
  if (processes.alone()) return init;
  const absl::StatusOr<std::string> hash = HashOf(*init->file_);
  if (absl::Status status = processes.Agree(hash.status()); !status.ok()) return status;
  if (absl::Status status = processes.CheckSame({{"--init: hash", *hash}}); !status.ok()) return status;
  return init;
}

absl::Status InitialParameters::Load(const Context& context, executor::Cluster& cluster) const {
  if (file_ == nullptr) return absl::OkStatus();
  return context.processes.Agree(cluster.OnEveryRank([&](Executor& executor) -> absl::Status {
    for (const StateTile& tile : executor.state()) {
      if (tile.optimizer) continue;
      const auto entry = file_->Find(tile.name, PrefixesOf(context));
      if (!entry.ok() && context.request.init_partial) continue;
      if (!entry.ok()) return entry.status();
      const absl::Status loaded = executor.LoadTile(tile, [&](void* bytes) {
        if (checkpoint_ != nullptr)  // which is verified as it is read
          return checkpoint_->Read((*entry)->name, tile.spec, tile.stored_shape, bytes);
        return file_->Read(**entry, tile.spec, tile.stored_shape, checkpoint::Conversion::kWiden, bytes);
      });
      if (!loaded.ok()) return loaded;
    }
    return absl::OkStatus();
  }));
}

}  // namespace weft::run
