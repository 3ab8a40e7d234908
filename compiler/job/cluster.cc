#include "compiler/job/cluster.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/job/axes.h"
#include "compiler/job/override.h"
#include "compiler/job/text.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/read_file.h"
#include "runtime/plan/scale.h"

namespace weft {
namespace {

constexpr char kPrefix[] = "cluster.";

// Checks and completes; errors begin with `where`.
absl::Status Finish(const std::string& where, Cluster* cluster) {
  if (absl::Status status = plan::CheckCluster(*cluster); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(where, status.message()));
  }
  plan::ResolveCluster(cluster);
  return absl::OkStatus();
}

// Puts the calibration that a cluster names in its place.
absl::Status ReadCalibration(const std::string& path, Cluster* cluster) {
  if (cluster->calibration_file().empty() || cluster->has_calibration()) return absl::OkStatus();
  const std::string file =
      (std::filesystem::path(path).parent_path() / cluster->calibration_file()).lexically_normal().string();
  const absl::StatusOr<std::string> text = plan::ReadText(file);
  if (absl::IsNotFound(text.status())) {
    return absl::NotFoundError(
        absl::StrCat(path, ": calibration_file: expected a calibration at ", file, ", found none"));
  }
  if (!text.ok()) return text.status();
  WEFT_RETURN_IF_ERROR(ParseText(*text, file, cluster->mutable_calibration()));
  cluster->clear_calibration_file();
  return absl::OkStatus();
}

// The number of times of "cluster.network.link_bytes_s=2x"; none of another override.
std::optional<double> FactorOf(const std::string& text) {
  double factor = 0;
  const bool scales = absl::EndsWith(text, "x") &&
                      absl::SimpleAtod(text.substr(text.find('=') + 1, text.size() - text.find('=') - 2), &factor);
  return scales ? std::optional(factor) : std::nullopt;
}

absl::Status Scale(const std::string& text, double factor, Cluster* cluster) {
  if (absl::Status status = plan::CheckCluster(*cluster); !status.ok()) {
    return absl::Status(status.code(), absl::StrCat(kPrefix, status.message()));
  }
  plan::ResolveCluster(cluster);  // a rate that is left out has a default
  const size_t prefix = sizeof(kPrefix) - 1;
  const absl::Status status = plan::ScaleRate(text.substr(prefix, text.find('=') - prefix), factor, cluster);
  return absl::Status(status.code(), absl::StrCat(kPrefix, status.message()));
}

absl::Status Apply(const std::vector<std::string>& overrides, Cluster* cluster) {
  for (const std::string& text : overrides) {
    if (!IsClusterOverride(text)) {
      return absl::InvalidArgumentError(absl::StrCat("override: expected cluster.key.path=value, got \"", text, "\""));
    }
    if (const std::optional<double> factor = FactorOf(text)) {
      WEFT_RETURN_IF_ERROR(Scale(text, *factor, cluster));
      continue;
    }
    WEFT_RETURN_IF_ERROR(ApplyOverride(text, sizeof(kPrefix) - 1, cluster));
  }
  return absl::OkStatus();
}

absl::Status CheckRanks(const Job& job, const Cluster& cluster) {
  const bool isAlike = job.pipeline().stages_size() == 0;
  const int64_t wanted = isAlike ? AllRanks(job.dist()) : StageRanks(job.dist());
  const int64_t there = cluster.node().count() * cluster.node().ranks();
  if (job.cluster().empty() || wanted <= there) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("dist: expected at most ", there, " ranks of ", job.cluster(), ", got ", RanksText(job.dist())));
}

// Where `part` of a job, "zero", keeps something.
template <typename Part>
absl::Status CheckTier(const char* part, const Part& of, const Job& job, const Cluster& cluster) {
  const std::string where = job.cluster().empty() ? "the local machine" : job.cluster();
  if (cluster.tier_size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        part, ".offload: expected a cluster with tiers below the device, got ", where, ", which has none"));
  }
  std::vector<std::string> names;
  for (const Tier& tier : cluster.tier()) {
    if (of.tier().empty() || of.tier() == tier.name()) return absl::OkStatus();
    names.push_back(absl::StrCat("`", tier.name(), "`"));
  }
  return absl::InvalidArgumentError(absl::StrCat(part, ".tier: expected a tier of ", where, ", ",
                                                 absl::StrJoin(names, " or "), ", got `", of.tier(), "`"));
}

// Where the host is to update parameters.
absl::Status CheckUpdate(const Job& job, const Cluster& cluster) {
  if (job.zero().update() != Zero::HOST) return absl::OkStatus();
  const Tier* const tier = TierOfZero(cluster, job);
  if (tier->update_bytes_s() > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "zero.update=HOST: expected a tier of kind HOST with update_bytes_s, which says at what rate the host updates, "
      "got `",
      tier->name(), "` of kind ", Tier::Kind_Name(tier->kind()), tier->kind() == Tier::HOST ? " without it" : ""));
}

const Tier* TierOrFirst(const Cluster& cluster, const std::string& name) {
  const auto tier = std::find_if(cluster.tier().begin(), cluster.tier().end(),
                                 [&](const Tier& it) { return name.empty() || it.name() == name; });
  return tier == cluster.tier().end() ? nullptr : &*tier;
}

}  // namespace

bool IsClusterOverride(const std::string& override_text) { return absl::StartsWith(override_text, kPrefix); }

absl::StatusOr<Cluster> LoadCluster(const std::string& path, const std::vector<std::string>& overrides) {
  Cluster cluster;
  if (path.empty()) {
    cluster.mutable_device()->set_kind("cpu");
    cluster.mutable_node()->set_count(1);
    cluster.mutable_node()->set_ranks(kMostLocalRanks);
  } else {
    const absl::StatusOr<std::string> text = plan::ReadText(path);
    if (absl::IsNotFound(text.status())) {
      return absl::NotFoundError(absl::StrCat(path, ": expected a cluster file, found none"));
    }
    if (!text.ok()) return text.status();
    WEFT_RETURN_IF_ERROR(ParseText(*text, path, &cluster));
    WEFT_RETURN_IF_ERROR(ReadCalibration(path, &cluster));
    // The file is right by itself: what is wrong after that, an override did.
    if (absl::Status status = plan::CheckCluster(cluster); !status.ok()) return Finish(path + ": ", &cluster);
  }
  WEFT_RETURN_IF_ERROR(Apply(overrides, &cluster));
  WEFT_RETURN_IF_ERROR(Finish(kPrefix, &cluster));
  return cluster;
}

absl::Status OverrideCluster(const std::vector<std::string>& overrides, Cluster* cluster) {
  WEFT_RETURN_IF_ERROR(Apply(overrides, cluster));
  return Finish(kPrefix, cluster);
}

void ResolveTiers(const Cluster& cluster, Job* job) {
  if (cluster.tier_size() == 0) return;
  const std::string& first = cluster.tier(0).name();
  if (job->zero().offload() && job->zero().tier().empty()) job->mutable_zero()->set_tier(first);
  if (Offloads(job->recompute()) && job->recompute().tier().empty()) job->mutable_recompute()->set_tier(first);
}

const Tier* TierOfZero(const Cluster& cluster, const Job& job) { return TierOrFirst(cluster, job.zero().tier()); }

const Tier* TierOfRecompute(const Cluster& cluster, const Job& job) {
  return TierOrFirst(cluster, job.recompute().tier());
}

absl::Status CheckOnCluster(const Job& job, const Cluster& cluster) {
  WEFT_RETURN_IF_ERROR(CheckRanks(job, cluster));
  if (job.zero().offload()) {
    WEFT_RETURN_IF_ERROR(CheckTier("zero", job.zero(), job, cluster));
  }
  WEFT_RETURN_IF_ERROR(CheckUpdate(job, cluster));
  const bool names_tier = Offloads(job.recompute()) || !job.recompute().tier().empty();
  return names_tier ? CheckTier("recompute", job.recompute(), job, cluster) : absl::OkStatus();
}

}  // namespace weft
