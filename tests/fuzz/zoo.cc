#include "tests/fuzz/zoo.h"

#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/candidates.h"
#include "compiler/pipeline/compile.h"
#include "compiler/pipeline/model_source.h"
#include "ops/abi/status_macros.h"
#include "runtime/proof/verify.h"

namespace weft::fuzz {
namespace {

constexpr char kOrderFile[] = "schedule.txt";

// So that arenas are not searched for, which takes seconds.
constexpr char kRoom[] = "cluster.device.memory_bytes=1099511627776";

// As many as a layout has ranks for.
constexpr int64_t kMostNodes = 4;

// Overrides of a cluster whose links are fast or slow beyond any real ones, those of a node and perhaps others between
// nodes of two ranks.
Overrides RandomLinks(Dice& dice) {
  struct Link {
    const char *bytes_s, *latency_s;
  };
  const auto link = [&] {
    return dice.Of<Link>({{"1e12", "1e-9"},  // fast
                          {"1e12", "1e-9"},
                          {"1e18", "1e-15"},   // free
                          {"1e3", "1"},        // slow
                          {"1e18", "1"},       // slow for small messages
                          {"1e3", "1e-15"}});  // slow for large ones
  };
  const auto add = [](Overrides& all, const char* which, Link link) {
    all.push_back(absl::StrCat("cluster.", which, ".link_bytes_s=", link.bytes_s));
    all.push_back(absl::StrCat("cluster.", which, ".latency_s=", link.latency_s));
  };
  Overrides all;
  add(all, "node", link());
  if (dice.Percent(30)) {
    all.push_back(absl::StrCat("cluster.node.count=", kMostNodes));
    all.push_back("cluster.node.ranks=2");
    add(all, "network", link());
  }
  return all;
}

}  // namespace

ZooCase RandomZooCase(uint64_t seed) {
  Dice dice(seed);
  const std::string name =
      dice.Of({"bert/tiny", "convnext/tiny", "gpt2/tiny", "gpt2/tiny", "llama/tiny", "llama/tiny_lora", "mae/tiny",
               "mixtral/tiny", "mixtral/tiny", "mlp/mlp", "moco/tiny", "noise/noise", "resmlp/tiny", "roberta/tiny",
               "swin/tiny", "t5/tiny", "vgg/tiny", "vit/tiny"});
  Traits traits;
  traits.uses_expert = absl::StartsWith(name, "mixtral");
  Layout layout = RandomLayout(dice, traits);
  ZooCase made{absl::StrCat("models/", name, ".job"), {}, {}, layout.order};
  Overrides more = {absl::StrCat("batch.global=", SamplesOf(layout))};
  const std::string compute = dice.Of({"F32", "F32", "BF16", "F16"});
  if (compute != "F32") more.push_back("precision.compute=" + compute);
  if (dice.Percent(15)) more.push_back(absl::StrCat("graph.loss_chunks=", 1 + dice.Below(3)));
  if (dice.Percent(85)) made.links = RandomLinks(dice);
  AddOverlap(dice, layout);
  AddTiers(dice, traits, layout);
  made.overrides = OverridesOf(layout, kOrderFile);
  made.overrides.insert(made.overrides.end(), more.begin(), more.end());
  return made;
}

std::string TextOf(const ZooCase& a_case) {
  return absl::StrCat("weft compile ", a_case.job, " '", absl::StrJoin(a_case.overrides, "' '"), "' ",
                      absl::StrJoin(a_case.links, " "), " ", kRoom, " '", kTier, "'",
                      a_case.order.empty() ? "" : absl::StrCat("\n--- ", kOrderFile, "\n", a_case.order));
}

absl::Status Prove(const ZooCase& a_case, const std::string& root, const std::string& folder) {
  const std::string path = absl::StrCat(root, "/", a_case.job);
  Overrides links = a_case.links, overrides = a_case.overrides;
  links.push_back(kRoom);
  links.push_back(kTier);
  if (!a_case.order.empty()) {
    const std::string order = absl::StrCat(folder, "/", kOrderFile);
    std::ofstream(order) << a_case.order;
    overrides.push_back("pipeline.schedule_file=" + order);
  }
  WEFT_ASSIGN_OR_RETURN(Job job, LoadJob(path, overrides));
  job = LocateJob(job, path);
  WEFT_ASSIGN_OR_RETURN(const Cluster cluster, LoadCluster("", links));
  WEFT_RETURN_IF_ERROR(CheckOnCluster(job, cluster));
  WEFT_ASSIGN_OR_RETURN(const std::unique_ptr<compiler::ModelSource> source, compiler::ModelSource::read(job));
  compiler::Candidates candidates(source->module(), cluster);
  const absl::StatusOr<plan::Plan> plan = candidates.planFor(job);
  if (!plan.ok()) {
    return plan.status().message().empty() ? absl::InternalError("refused without a word") : plan.status();
  }
  const absl::Status verified = plan::Verify(*plan, {});
  return verified.ok() ? verified : absl::InternalError(absl::StrCat("does not verify: ", verified.message()));
}

}  // namespace weft::fuzz
