#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/plan/names.h"
#include "runtime/show/decision.h"
#include "runtime/show/figures.h"
#include "runtime/show/print_json.h"
#include "runtime/show/table.h"
#include "tools/plan/cluster.h"
#include "tools/plan/explain.h"
#include "tools/plan/joined.h"

namespace weft::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostCommunication = 20;  // rows of text
constexpr int kMostTensors = 10;

constexpr std::pair<const char*, double Division::*> kParts[] = {
    {"forward", &Division::forward_s},
    {"backward", &Division::backward_s},
    {"update", &Division::update_s},
    {"other work", &Division::other_s},
    {"exposed communication", &Division::exposed_comm_s},
    {"waiting", &Division::waiting_s},
};

std::string DivisionText(const Explanation& explanation) {
  plan::Table table(2, {1, 2});
  for (const auto& [name, part] : kParts) {
    const double seconds = explanation.division.*part;
    if (seconds == 0) continue;
    table.Add({name, plan::SecondsText(seconds), plan::ShareText(seconds / explanation.figures.step_s)});
  }
  return table.Text();
}

// In an order that is fixed, what comes earlier may let another act wait: a faster machine may even take longer.
std::string SavedText(double seconds) {
  return seconds < 0 ? "-" + plan::SecondsText(-seconds) : plan::SecondsText(seconds);
}

// "S(1) +23.4 us": how else tensors could have lain, and what a step would take more.
std::string NextBestText(const Communication& it) {
  if (it.next_best.empty() || it.next_best == "none") return it.next_best;
  return absl::StrCat(it.next_best, it.more_s < 0 ? " " : " +", SavedText(it.more_s), it.avoided ? ", avoided" : "");
}

// What is said of tensors that could have lain otherwise; empty if nothing is.
std::string NextBestNotes(const std::vector<Communication>& all) {
  const auto any = [&](auto&& is) { return std::any_of(all.begin(), all.end(), is); };
  return absl::StrCat(any([](const Communication& it) { return it.next_best == "none"; })
                          ? "  none: no signature of the ops at both ends makes or reads the tensor otherwise\n"
                          : "",
                      any([](const Communication& it) { return it.avoided; })
                          ? "  avoided: it would move parts of a batch, or what parameters and optimizer state lie in\n"
                          : "");
}

// With `next_best`: how else tensors could have lain.
std::string CommunicationText(const std::vector<Communication>& all, bool next_best) {
  if (all.empty()) return "communication: none\n";
  plan::Table table(2, {1, 4, 5, 6, 7});
  std::vector<std::string> head = {"", "", "", "over", "sent", "takes", "hidden", "exposed"};
  if (next_best) head.push_back("next best layout");
  head.push_back("made at");
  table.Add(head);
  for (size_t i = 0; i < all.size() && i < kMostCommunication; ++i) {
    const Communication& it = all[i];
    std::vector<std::string> row = {it.name,
                                    absl::StrCat("x", it.acts),
                                    it.what,
                                    it.over,
                                    plan::BytesText(static_cast<int64_t>(std::min(it.sent_bytes, 9e18))),
                                    plan::SecondsText(it.seconds),
                                    it.seconds > 0 ? plan::ShareText(it.hidden_s() / it.seconds) : "-",
                                    plan::SecondsText(it.exposed_s)};
    if (next_best) row.push_back(NextBestText(it));
    row.push_back(it.location);
    table.Add(row);
  }
  double rest = 0;
  for (size_t i = kMostCommunication; i < all.size(); ++i) rest += all[i].exposed_s;
  const std::string more = all.size() <= kMostCommunication
                               ? ""
                               : absl::StrCat("  and ", all.size() - kMostCommunication, " more, ",
                                              plan::SecondsText(rest), " exposed (--json has all)\n");
  return absl::StrCat("communication of a rank in a step, the most exposed first\n", table.Text(), more,
                      next_best ? NextBestNotes(all) : "");
}

std::string BelowText(const std::vector<BelowDevice>& all) {
  if (all.empty()) return "";
  plan::Table table(2, {2, 3, 4, 5});
  table.Add({"", "", "bytes", "takes", "hidden", "exposed"});
  for (const BelowDevice& it : all) {
    table.Add({absl::StrCat("tier `", it.tier, "`"), it.what,
               plan::BytesText(static_cast<int64_t>(std::min(it.bytes, 9e18))), plan::SecondsText(it.seconds),
               it.seconds > 0 ? plan::ShareText(it.hidden_s() / it.seconds) : "-", plan::SecondsText(it.exposed_s)});
  }
  return absl::StrCat("below the device, of a rank in a step\n", table.Text());
}

std::string MemoryText(const Memory& memory, const Scope& scope) {
  plan::Table categories(2, {1});
  for (int k = 0; k < plan::kCategories; ++k) {
    if (memory.at_peak[k] == 0) continue;
    categories.Add({plan::NameOf(static_cast<plan::Category>(k)), plan::BytesText(memory.at_peak[k])});
  }
  if (scope.kind() == Scope::Kind::kPlan && memory.arena_bytes > memory.lower_bound_bytes) {
    categories.Add({"unused then", plan::BytesText(memory.arena_bytes - memory.lower_bound_bytes)});
  }
  plan::Table largest(2, {2});
  for (size_t i = 0; i < memory.largest.size() && i < kMostTensors; ++i) {
    const plan::AlikeTensors& it = memory.largest[i];
    largest.Add({it.name, it.type, plan::BytesText(it.bytes), plan::NameOf(it.category), it.CountText(), it.origin});
  }
  const std::string head = scope.kind() == Scope::Kind::kPlan
                               ? absl::StrCat("memory of a rank of stage ", memory.stage, " at its peak, of ",
                                              plan::BytesText(memory.arena_bytes))
                               : absl::StrCat("of it in memory at the peak of stage ", memory.stage);
  if (categories.empty()) return head + ": nothing\n";
  return absl::StrCat(head, "\n", categories.Text(), "the largest tensors there\n", largest.Text());
}

std::string PricesText(const Explanation& explanation) {
  plan::Table table(2, {1, 2});
  const double step_s = explanation.figures.step_s;
  for (const Price& price : explanation.prices) {
    table.Add(
        {price.name, SavedText(price.saved_s), plan::ShareText(step_s > 0 ? price.saved_s / step_s : 0), price.key});
  }
  return absl::StrCat("what the step would save, were one thing twice as fast\n", table.Text());
}

// What other means than rates would buy: it takes a compiler to say, so it is what the search has kept.
std::string MeansText(const plan::Plan& plan, double step_s) {
  const plan::Header& header = plan.header();
  plan::Table table(2, {1, 2, 3});
  for (const plan::MeansPrice& price : header.decision().prices()) {
    table.Add({price.means(), SavedText(price.saved_s()), plan::ShareText(step_s > 0 ? price.saved_s() / step_s : 0),
               plan::BytesText(price.bytes()), price.keys()});
  }
  if (!table.empty()) return "with other means, by the estimates of the search, in so much memory\n" + table.Text();
  if (!header.training()) return "";
  const int64_t memory = header.cluster().device().memory_bytes(), micro = header.job().batch().micro();
  std::string sets;
  if (memory > 0) absl::StrAppend(&sets, " cluster.device.memory_bytes=", memory + (int64_t{1} << 30));
  if (header.micro_batches() % 2 == 0) absl::StrAppend(&sets, " batch.micro=", 2 * micro);
  if (sets.empty()) return "";
  return absl::StrCat("what other means would buy takes a compiler; beside the job file that was compiled:\n",
                      "  weft plan job PLAN > again.job && weft plan compare again.job ''", sets, "\n");
}

// A predicted time beside a traced one.
std::vector<std::string> TracedRow(const std::string& name, const TracedFamily& it) {
  return {name,
          absl::StrFormat("x%.4g", it.runs),
          plan::SecondsText(it.predicted_s),
          plan::SecondsText(it.traced_s),
          it.traced_s > 0 ? absl::StrFormat("%.2f", it.predicted_s / it.traced_s) : "-",
          SavedText(it.predicted_s - it.traced_s)};
}

std::string TracedText(const std::optional<Traced>& traced) {
  if (!traced) return "";
  plan::Table table(2, {1, 2, 3, 4, 5});
  table.Add({"", "", "predicted", "traced", "ratio", "off by"});
  for (const TracedFamily& it : traced->families) table.Add(TracedRow(it.family, it));
  table.Add(TracedRow("acts beside their kernels", traced->launches));
  table.Add(TracedRow("step", traced->step));
  return absl::StrCat("kernels of a rank in a step, beside a trace (median of ", traced->steps, " steps)\n",
                      table.Text());
}

Json TracedJson(const std::string& name, const TracedFamily& it) {
  return {{"name", name}, {"runs", it.runs}, {"predicted_s", it.predicted_s}, {"traced_s", it.traced_s}};
}

// "layer `h.0`": what a name was found to be.
std::string ScopeText(const Scope& scope) {
  const char* kinds[] = {"plan", "actor", "buffer", "layer", "kernel"};
  return absl::StrCat(kinds[static_cast<int>(scope.kind())], " `", scope.name(), "`");
}

std::string TextOf(const plan::Plan& plan, const Explanation& explanation, const Scope& scope) {
  const bool whole = scope.kind() == Scope::Kind::kPlan;
  const std::string figures = plan::FiguresText(explanation.figures);
  const std::string mean = plan.stages_size() > 1 ? absl::StrCat(" (means over ", plan.stages_size(), " stages)") : "";
  return absl::StrCat(whole ? "" : ScopeText(scope) + ", of a ", "step ", plan::SecondsText(explanation.figures.step_s),
                      mean, whole && !figures.empty() ? ": " + figures : "", "\n",
                      whole ? plan::DecisionText(plan.header().decision()) : "", DivisionText(explanation),
                      CommunicationText(explanation.communication, !whole), BelowText(explanation.below),
                      MemoryText(explanation.memory, scope), JoinedText(plan, scope), TracedText(explanation.traced),
                      whole ? PricesText(explanation) : "", whole ? MeansText(plan, explanation.figures.step_s) : "");
}

Json NextBestJson(const Communication& it) {
  if (it.next_best.empty()) return Json();
  const bool none = it.next_best == "none";
  return {{"layout", none ? Json() : Json(it.next_best)},
          {"more_s", none ? Json() : Json(it.more_s)},
          {"avoided", it.avoided}};
}

}  // namespace

nlohmann::ordered_json ExplanationJson(const plan::Plan& plan, const Explanation& explanation, const Scope& scope) {
  Json json = plan::FiguresJson(explanation.figures);
  json["name"] = scope.kind() == Scope::Kind::kPlan ? Json() : Json(scope.name());
  json["decision"] = plan::DecisionJson(plan.header().decision());
  const Division& division = explanation.division;
  json["division"] = {{"forward_s", division.forward_s},
                      {"backward_s", division.backward_s},
                      {"update_s", division.update_s},
                      {"other_s", division.other_s},
                      {"exposed_comm_s", division.exposed_comm_s},
                      {"waiting_s", division.waiting_s}};
  json["communication"] = Json::array();
  for (const Communication& it : explanation.communication) {
    json["communication"].push_back({{"name", it.name},
                                     {"what", it.what},
                                     {"over", it.over},
                                     {"actors", it.count},
                                     {"acts", it.acts},
                                     {"sent_bytes", it.sent_bytes},
                                     {"communication_s", it.seconds},
                                     {"hidden_s", it.hidden_s()},
                                     {"exposed_comm_s", it.exposed_s},
                                     {"location", it.location},
                                     {"next_best", NextBestJson(it)}});
  }
  json["below"] = Json::array();
  for (const BelowDevice& it : explanation.below) {
    json["below"].push_back({{"tier", it.tier},
                             {"what", it.what},
                             {"bytes", it.bytes},
                             {"seconds", it.seconds},
                             {"hidden_s", it.hidden_s()},
                             {"exposed_s", it.exposed_s}});
  }
  const Memory& memory = explanation.memory;
  json["memory"] = {{"stage", memory.stage},
                    {"arena_bytes", memory.arena_bytes},
                    {"lower_bound_bytes", memory.lower_bound_bytes},
                    {"at_peak", Json::object()},
                    {"largest", Json::array()}};
  for (int k = 0; k < plan::kCategories; ++k) {
    json["memory"]["at_peak"][plan::NameOf(static_cast<plan::Category>(k))] = memory.at_peak[k];
  }
  for (const plan::AlikeTensors& it : memory.largest) {
    json["memory"]["largest"].push_back({{"name", it.name},
                                         {"type", it.type},
                                         {"category", plan::NameOf(it.category)},
                                         {"bytes", it.bytes},
                                         {"tensors", it.tensors},
                                         {"location", it.origin}});
  }
  json["joined"] = JoinedJson(plan, scope);
  json["prices"] = Json::array();
  for (const Price& price : explanation.prices) {
    json["prices"].push_back(
        {{"twice", price.name}, {"key", price.key}, {"step_s", price.step_s}, {"saved_s", price.saved_s}});
  }
  if (explanation.traced) {
    const Traced& traced = *explanation.traced;
    json["traced"] = {{"steps", traced.steps},
                      {"families", Json::array()},
                      {"launches", TracedJson("launches", traced.launches)},
                      {"step", TracedJson("step", traced.step)}};
    for (const TracedFamily& it : traced.families) json["traced"]["families"].push_back(TracedJson(it.family, it));
  }
  return json;
}

Outcome RunExplain(const std::string& path, const plan::Plan& plan, const ExplainRequest& request) {
  const auto wrong = [&](const absl::Status& status) { return Outcome{"", std::string(status.message()), 2}; };
  const absl::StatusOr<Cluster> cluster = ClusterOf(path, plan, request.cluster_keys);
  if (!cluster.ok()) return wrong(cluster.status());
  const absl::StatusOr<Scope> scope = Scope::Find(plan::ProgramsOf(plan), request.name);
  if (!scope.ok()) return {"", absl::StrCat(path, ": ", scope.status().message()), 2};
  if (!request.with.empty() && scope->kind() != Scope::Kind::kPlan) {
    return {"", absl::StrCat("--with: expected no NAME beside it, got `", request.name, "`"), 2};
  }
  const absl::StatusOr<Explanation> explanation = Explain(path, plan, *cluster, *scope, request.with);
  if (!explanation.ok()) return wrong(explanation.status());
  return {
      request.json ? plan::JsonText(ExplanationJson(plan, *explanation, *scope)) : TextOf(plan, *explanation, *scope),
      "", 0};
}

}  // namespace weft::tools
