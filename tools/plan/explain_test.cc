#include "tools/plan/explain.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/plan/load.h"
#include "tests/fixtures/pipeline_plans.h"
#include "tests/plans/corpus.h"
#include "tools/plan/cluster.h"

namespace weft::tools {
namespace {

// The plan, saved; its path.
std::string Saved(const plan::Plan& plan, const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name + ".plan";
  EXPECT_TRUE(plan::Save(plan, path).ok());
  return path;
}

Explanation Explained(const plan::Plan& plan, const std::string& name = "", const std::vector<std::string>& keys = {}) {
  const absl::StatusOr<Scope> scope = Scope::Find(plan::ProgramsOf(plan), name);
  EXPECT_TRUE(scope.ok()) << scope.status();
  const absl::StatusOr<Explanation> explanation = Explain("p", plan, *ClusterOf("p", plan, keys), *scope);
  EXPECT_TRUE(explanation.ok()) << explanation.status();
  return *explanation;
}

// Forwards of 1 s, backwards of 2 s, transfers of 0.25 s.
const std::vector<std::string> kQuarter = {"cluster.node.latency_s=0.25", "cluster.node.link_bytes_s=1e30",
                                           "cluster.device.launch_s=1e-30"};

double Sum(const Division& division) {
  return division.forward_s + division.backward_s + division.update_s + division.other_s + division.exposed_comm_s +
         division.waiting_s;
}

TEST(ExplainTest, TheStepIsDividedWithoutRest) {
  const plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 1), 1);
  const Explanation explanation = Explained(plan, "", kQuarter);
  EXPECT_DOUBLE_EQ(explanation.figures.step_s, 6.5);
  EXPECT_DOUBLE_EQ(explanation.division.forward_s, 1);
  EXPECT_DOUBLE_EQ(explanation.division.backward_s, 2);
  EXPECT_DOUBLE_EQ(explanation.division.exposed_comm_s, 0.5);
  EXPECT_DOUBLE_EQ(explanation.division.waiting_s, 3);
  for (int64_t m : {2, 8}) {
    for (int stages : {2, 4}) {
      const Explanation it = Explained(sim::Pipeline(sim::OneFOneB(stages, m), m), "", kQuarter);
      EXPECT_NEAR(Sum(it.division), it.figures.step_s, 1e-9);
      EXPECT_NEAR(it.division.exposed_comm_s, it.figures.exposed_comm_s, 1e-12);
    }
  }
}

// Of the two transfers each stage waits for both; what layers have alike is one row.
TEST(ExplainTest, TransfersAddUpToWhatIsExposed) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(4, 3), 3);
  for (int s = 0; s < 4; ++s) {
    for (plan::Actor& actor : *plan.mutable_stages(s)->mutable_actors()) {
      if (actor.end_case() != plan::Actor::END_NOT_SET)
        actor.set_name(absl::StrCat("h.", s, ".", actor.name(), "#", s + 2));
    }
  }
  const Explanation explanation = Explained(plan, "", kQuarter);
  ASSERT_EQ(explanation.communication.size(), 2u);
  double exposed = 0;
  for (const Communication& it : explanation.communication) {
    EXPECT_EQ(it.what, "transfer");
    EXPECT_EQ(it.count, 3);
    EXPECT_EQ(it.acts, 9);
    EXPECT_DOUBLE_EQ(it.sent_bytes, 9 * 1024 / 4.0);
    EXPECT_DOUBLE_EQ(it.seconds, 2 * 9 * 0.25 / 4);  // both ends
    EXPECT_GE(it.hidden_s(), 0);
    exposed += it.exposed_s;
  }
  EXPECT_NEAR(exposed, explanation.figures.exposed_comm_s, 1e-12);
  EXPECT_GT(exposed, 0);
  EXPECT_GE(explanation.communication[0].exposed_s, explanation.communication[1].exposed_s);
  EXPECT_EQ(explanation.communication[0].name, "h.*.send_dx");
  EXPECT_EQ(explanation.communication[1].name, "h.*.send_y");
  EXPECT_EQ(Explained(plan, "h.0.send_y#2", kQuarter).communication[0].name, "h.0.send_y#2");
}

TEST(ExplainTest, APriceIsWhatSimulateSaysOfItsKey) {
  const plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 4), 4);
  const std::string path = Saved(plan, "prices");
  const std::vector<std::string> keys = {"cluster.node.link_bytes_s=2048", "cluster.device.contraction_flops=3e11"};
  const Explanation explanation = Explained(plan, "", keys);
  ASSERT_EQ(explanation.prices.size(), 4u);
  for (const Price& price : explanation.prices) {
    const Outcome outcome = RunPlanCommand({"simulate", path, "--json", keys[0], keys[1], price.key});
    EXPECT_EQ(outcome.error, "");
    EXPECT_EQ(nlohmann::json::parse(outcome.output)["step_s"], price.step_s) << price.key;
    EXPECT_DOUBLE_EQ(price.saved_s, explanation.figures.step_s - price.step_s);
  }
  EXPECT_GT(explanation.prices[0].saved_s, explanation.prices[1].saved_s);
  EXPECT_GT(explanation.prices[1].saved_s, 0);
  EXPECT_EQ(explanation.prices[2].saved_s, 0) << "the kernels move no bytes";
  EXPECT_EQ(explanation.prices[0].key, "cluster.device.contraction_flops=2x");
  EXPECT_EQ(explanation.prices[1].key, "cluster.node.link_bytes_s=2x");
  EXPECT_EQ(explanation.prices[3].saved_s, 0) << "one node has no network";
}

// What a calibration has measured goes before the rate, and is twice as fast with it.
TEST(ExplainTest, PricesCountWhereTablesSayTheRates) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 1), 1);
  for (plan::Stage& stage : *plan.mutable_stages()) {
    for (plan::Actor& actor : *stage.mutable_actors()) {
      for (plan::Kernel& kernel : *actor.mutable_kernels()) kernel.set_name("attention");
    }
  }
  const std::vector<std::string> keys = {
      R"(cluster.calibration={device_kind: "cpu"
         product { m: 1 n: 1 k: 1 type: "f32" flops_s: 1e11 } product { m: 1 n: 1 k: 1 type: "bf16" flops_s: 1e11 }
         kernel { family: "attention" bytes: 1 bytes_s: 1e10 flops_s: 5e10 }})"};
  const Explanation explanation = Explained(plan, "", keys);
  EXPECT_EQ(explanation.prices[0].name, "matrix products");
  EXPECT_GT(explanation.prices[0].saved_s, 0.4 * explanation.figures.step_s);
}

// What goes to a tier and from it, what the host does there, and what faster ones would save.
TEST(ExplainTest, WhatLiesBelowTheDeviceHasItsShare) {
  plan::Plan plan = plan::ReadCorpusPlan("tests/plans/host.txtpb")->plan;
  for (plan::Actor& actor : *plan.mutable_stages(0)->mutable_actors()) {
    if (actor.name() == "update") actor.mutable_kernels(0)->mutable_cost()->set_bytes(2e9);
  }
  const Explanation explanation = Explained(plan);
  ASSERT_EQ(explanation.below.size(), 3u);
  const auto& [fetched, stored, updated] = std::tie(explanation.below[0], explanation.below[1], explanation.below[2]);
  EXPECT_EQ(fetched.what + ", " + stored.what + ", " + updated.what, "fetched, stored, updated by the host");
  EXPECT_EQ(fetched.bytes, 64);
  EXPECT_EQ(stored.bytes, 64 + 4);
  EXPECT_DOUBLE_EQ(updated.seconds, 2);
  EXPECT_NEAR(updated.exposed_s, 2, 1e-3);
  EXPECT_NEAR(Sum(explanation.division), explanation.figures.step_s, 1e-9);
  EXPECT_EQ(explanation.prices[0].key, "cluster.tier.host.update_bytes_s=2x");
  EXPECT_NEAR(explanation.prices[0].saved_s, 1, 1e-3);
  const std::string said = RunPlanCommand({"explain", Saved(plan, "below")}).output;
  EXPECT_NE(said.find("below the device, of a rank in a step\n"), std::string::npos) << said;
  EXPECT_NE(said.find("cluster.tier.host.bytes_s=2x"), std::string::npos) << said;
  EXPECT_TRUE(Explained(sim::Pipeline(sim::OneFOneB(2, 1), 1)).below.empty());
}

// What no rate buys is what the search found out, or a command.
TEST(ExplainTest, SaysWhatOtherMeansWouldBuy) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 4), 4);
  plan::Header& header = *plan.mutable_header();
  const auto said = [&](const std::string& name) { return RunPlanCommand({"explain", Saved(plan, name)}).output; };
  header.set_training(false);
  EXPECT_EQ(said("function").find("other means"), std::string::npos);
  header.set_training(true);
  header.mutable_job()->mutable_batch()->set_micro(8);
  EXPECT_NE(said("asked").find("weft plan compare again.job '' batch.micro=16\n"), std::string::npos) << said("asked");
  plan::Decision& decision = *header.mutable_decision();
  decision.add_best()->set_keys("dist.pipeline=2");
  plan::MeansPrice& price = *decision.add_prices();
  price.set_means("1 GiB more memory");
  price.set_keys("dist.data=2");
  price.set_saved_s(-0.5);
  price.set_bytes(1024);
  const std::string chosen = said("chosen");
  EXPECT_NE(chosen.find("  1 GiB more memory  -500 ms"), std::string::npos) << chosen;
  EXPECT_NE(chosen.find("1.00 KiB  dist.data=2\n"), std::string::npos) << chosen;
  EXPECT_EQ(chosen.find("again.job"), std::string::npos) << "the search knows";
}

// A trace of stages 0 and 1, ranks 0 and 1, of which the first step is left out. Acts are 0.1 s longer than their
// kernel.
std::string TraceOf(const std::string& kernel, const std::vector<double>& forward_s) {
  nlohmann::json events;
  for (int rank : {0, 1}) {
    for (const auto& [thread, name] : {std::pair(0, "compute"), {1, "compute kernels"}}) {
      events.push_back(
          {{"ph", "M"}, {"name", "thread_name"}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}});
    }
    for (size_t step = 0; step < forward_s.size(); ++step) {
      const auto add = [&](int thread, const std::string& name, double begin_s, double seconds) {
        events.push_back({{"ph", "X"},
                          {"name", name},
                          {"pid", rank},
                          {"tid", thread},
                          {"ts", 1e6 * (100.0 * static_cast<double>(step) + begin_s)},
                          {"dur", 1e6 * seconds},
                          {"args", {{"step", step + 1}, {"micro_batch", 0}}}});
      };
      add(1, "forward/0 " + kernel, 0, forward_s[step]);
      add(0, "forward", 0, forward_s[step] + 0.1);
      add(1, "backward/0 compute", 20, 4);
      add(0, "backward", 20, 4.1);
    }
  }
  const std::string path = testing::TempDir() + "/kernels.json";
  std::ofstream(path) << nlohmann::json{{"traceEvents", events}};
  return path;
}

TEST(ExplainTest, ComparesWithATrace) {
  const std::string path = Saved(sim::Pipeline(sim::OneFOneB(2, 1), 1), "traced");
  std::vector<std::string> arguments = {"explain", path, "--json", "--with", TraceOf("compute", {9, 3, 2, 5})};
  arguments.insert(arguments.end(), kQuarter.begin(), kQuarter.end());
  arguments.push_back("cluster.device.launch_s=0.25");
  const Outcome outcome = RunPlanCommand(arguments);
  ASSERT_EQ(outcome.error, "");
  const nlohmann::json traced = nlohmann::json::parse(outcome.output)["traced"];
  EXPECT_EQ(traced["steps"], 3);
  ASSERT_EQ(traced["families"].size(), 1u);
  const nlohmann::json& kernels = traced["families"][0];
  EXPECT_EQ(kernels["name"], "compute");
  EXPECT_EQ(kernels["runs"], 2);
  EXPECT_NEAR(kernels["predicted_s"], 1 + 2, 1e-9) << "without launches";
  EXPECT_NEAR(kernels["traced_s"], 3 + 4, 1e-6) << "the median of 2, 3 and 5, and 4";
  EXPECT_NEAR(traced["launches"]["predicted_s"], 2 * 0.25, 1e-9);
  EXPECT_NEAR(traced["launches"]["traced_s"], 2 * 0.1, 1e-6);
  EXPECT_NEAR(traced["step"]["traced_s"], 24.1, 1e-6);
  EXPECT_NEAR(traced["step"]["predicted_s"], 6.5 + 4 * 0.25, 1e-9);
  arguments[2] = "--with=" + TraceOf("compute", {9, 3});
  arguments.erase(arguments.begin() + 3, arguments.begin() + 5);
  const std::string text = RunPlanCommand(arguments).output;
  EXPECT_NE(text.find("beside a trace (median of 1 steps)"), std::string::npos) << text;
  EXPECT_NE(text.find("  compute                    x2     3.00 s  7.00 s   0.43  -4.00 s\n"), std::string::npos)
      << text;
}

TEST(ExplainTest, RefusesATraceThatSaysNothingOfThePlan) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 1), 1);
  const std::string path = Saved(plan, "traced");
  const auto error = [&](const std::string& with, const std::string& name = "") {
    std::vector<std::string> arguments = {"explain", path, "--with", with};
    if (!name.empty()) arguments.push_back(name);
    const Outcome outcome = RunPlanCommand(arguments);
    EXPECT_EQ(outcome.status, 2);
    return outcome.error;
  };
  const std::string trace = TraceOf("norm", {1, 1}), acts = testing::TempDir() + "/acts.json";
  EXPECT_EQ(error(trace), trace +
                              ": expected a trace of this plan, found kernel `forward/0 norm` of rank 0, which it "
                              "does not run");
  EXPECT_EQ(error("none.json"), "none.json: expected a trace of weft-run, found none");
  std::ofstream(acts)
      << R"({"traceEvents":[{"ph":"X","name":"forward","pid":0,"tid":0,"ts":1,"dur":5,"args":{"step":1}}]})";
  EXPECT_EQ(error(acts),
            acts + ": expected the kernels of a step, as weft-run --trace-kernels writes them, found none");
  EXPECT_EQ(error(acts, "forward"), "--with: expected no NAME beside it, got `forward`");
}

TEST(ExplainTest, OfAGpuTheDevicesOwnTimesCount) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 1), 1);
  const Cluster cluster = *ClusterOf("p", plan, {});
  *plan.mutable_header()->mutable_cluster() = cluster;
  plan.mutable_header()->mutable_cluster()->mutable_device()->set_kind("cuda");
  const std::string path = Saved(plan, "gpu"), trace = TraceOf("compute", {1, 1});
  EXPECT_EQ(RunPlanCommand({"explain", path, "--with", trace}).error,
            trace +
                ": expected what kernels take, as traces of ranks on CPUs have it and those that activity_trace.py "
                "makes of a GPU's record, got a trace of cuda, which says when the host began them");
  std::ifstream file(trace);
  nlohmann::json json = nlohmann::json::parse(file);
  json["otherData"]["kernels"] = "device";
  const std::string own = testing::TempDir() + "/device.json";
  std::ofstream(own) << json;
  EXPECT_EQ(RunPlanCommand({"explain", path, "--with", own}).error, "");
}

TEST(ExplainTest, MemoryIsThatOfThePeak) {
  const plan::Plan plan = plan::ReadCorpusPlan("tests/plans/train.txtpb")->plan;
  const Memory memory = Explained(plan).memory;
  EXPECT_EQ(memory.arena_bytes, 1856);
  EXPECT_EQ(memory.lower_bound_bytes, 1472);
  EXPECT_EQ(std::accumulate(memory.at_peak.begin(), memory.at_peak.end(), int64_t{0}), 1472);
  EXPECT_EQ(memory.at_peak[static_cast<int>(plan::Category::kOptimizer)], 512);
  int64_t all = 0;
  for (const plan::AlikeTensors& it : memory.largest) all += it.bytes;
  EXPECT_EQ(all, 1472);
}

TEST(ExplainTest, ANameIsAnActorABufferOrALayer) {
  plan::Plan plan = sim::Pipeline(sim::OneFOneB(2, 1), 1);
  plan.mutable_stages(1)->mutable_actors(0)->set_name("h.1.forward");
  const Explanation layer = Explained(plan, "h.1", kQuarter);
  EXPECT_DOUBLE_EQ(layer.division.forward_s, 0.5) << "one of two stages";
  EXPECT_EQ(layer.division.backward_s, 0);
  EXPECT_EQ(layer.division.waiting_s, 0);
  EXPECT_TRUE(layer.communication.empty());
  EXPECT_TRUE(layer.prices.empty());
  const Explanation actor = Explained(plan, "send_y", kQuarter);
  EXPECT_EQ(Sum(actor.division), actor.division.exposed_comm_s);
  ASSERT_EQ(actor.communication.size(), 1u);
  EXPECT_DOUBLE_EQ(actor.communication[0].seconds, 0.25 / 2);
  const Explanation receiver = Explained(plan, "receive_x", kQuarter);
  ASSERT_EQ(receiver.communication.size(), 1u);
  EXPECT_EQ(receiver.communication[0].count, 1);
  EXPECT_DOUBLE_EQ(receiver.communication[0].sent_bytes, 1024 / 2.0);
  const Explanation buffer = Explained(plan, "x", kQuarter);
  ASSERT_EQ(buffer.communication.size(), 1u);
  EXPECT_EQ(buffer.communication[0].name, "send_y");
  EXPECT_DOUBLE_EQ(buffer.division.forward_s, 0.5);
  const absl::Status status = Scope::Find(plan::ProgramsOf(plan), "h.l").status();
  EXPECT_EQ(status.message(),
            "expected an actor, a kernel, a buffer or a layer of the plan, got `h.l`; did you mean h.1?");
  const auto error = [&](const std::string& name) {
    return std::string(Scope::Find(plan::ProgramsOf(plan), name).status().message());
  };
  EXPECT_NE(error("_d").find("got `_d`; near are send_dx, receive_dy"), std::string::npos) << error("_d");
  EXPECT_NE(error("nobody").find("got `nobody`; there are forward, backward, "), std::string::npos) << error("nobody");
}

// Of actors that layers have alike the seconds add up, as far as there is another layout.
TEST(ExplainTest, SaysTheNextBestLayout) {
  plan::Plan plan = plan::ReadCorpusPlan("tests/plans/collectives.txtpb")->plan;
  const auto communication = [&](const std::string& name) { return Explained(plan, name).communication.at(0); };
  EXPECT_EQ(communication("reduce").next_best, "S(1) to B");
  EXPECT_DOUBLE_EQ(communication("reduce").more_s, 1e-6);
  EXPECT_EQ(communication("scatter").next_best, "");
  const auto actor = [&](const std::string& name) {
    return std::find_if(plan.mutable_stages(0)->mutable_actors()->begin(),
                        plan.mutable_stages(0)->mutable_actors()->end(),
                        [&](const plan::Actor& it) { return it.name() == name; });
  };
  actor("gather.two")->mutable_collectives(0)->mutable_next_best()->set_axis(1);
  EXPECT_EQ(communication("gather.two").next_best, "none");
  plan::NextBest& best = *actor("gather.two")->mutable_collectives(0)->mutable_next_best();
  best.mutable_made();
  best.mutable_read();
  best.set_more_s(-2e-6);
  best.set_avoided(true);
  EXPECT_EQ(communication("gather.two").next_best, "1=B");
  actor("gather")->mutable_collectives(0)->mutable_next_best();
  actor("gather")->mutable_collectives(0)->mutable_next_best()->set_axis(1);
  const std::string path = Saved(plan, "next_best");
  const auto text = [&](const std::string& name) { return RunPlanCommand({"explain", path, name}).output; };
  EXPECT_NE(text("reduce").find("  S(1) to B +1.00 us\n"), std::string::npos) << text("reduce");
  EXPECT_NE(text("gather").find("  none\n  none: no signature"), std::string::npos) << text("gather");
  EXPECT_NE(text("gather.two").find("  1=B -2.00 us, avoided\n  avoided: "), std::string::npos) << text("gather.two");
  const auto json = [&](const std::string& name) {
    return nlohmann::json::parse(
        RunPlanCommand({"explain", path, name, "--json"}).output)["communication"][0]["next_best"];
  };
  EXPECT_EQ(json("reduce").dump(), R"({"avoided":false,"layout":"S(1) to B","more_s":1e-06})");
  EXPECT_EQ(json("gather").dump(), R"({"avoided":false,"layout":null,"more_s":null})");
  EXPECT_TRUE(json("scatter").is_null());
}

// What a bundle or a row has alike is said once; the seconds add up.
TEST(ExplainTest, AddsUpNextBestLayouts) {
  plan::Plan plan = plan::ReadCorpusPlan("tests/plans/bundle.txtpb")->plan;
  plan::Actor& both =
      *std::find_if(plan.mutable_stages(0)->mutable_actors()->begin(), plan.mutable_stages(0)->mutable_actors()->end(),
                    [](const plan::Actor& it) { return it.name() == "both.reduce"; });
  const auto communication = [&] { return Explained(plan, "both.reduce").communication.at(0); };
  plan::NextBest& first = *both.mutable_collectives(0)->mutable_next_best();
  first.mutable_made();
  first.mutable_read();
  first.set_more_s(1e-6);
  EXPECT_EQ(communication().next_best, "several");
  EXPECT_DOUBLE_EQ(communication().more_s, 1e-6);
  for (plan::Collective& it : *both.mutable_collectives()) *it.mutable_next_best() = plan::NextBest(first);
  EXPECT_EQ(communication().next_best, "B");
  EXPECT_DOUBLE_EQ(communication().more_s, 1e-6 * both.collectives_size());
  EXPECT_FALSE(communication().avoided);
  both.mutable_collectives(1)->mutable_next_best()->set_avoided(true);
  EXPECT_TRUE(communication().avoided);
}

TEST(ExplainTest, SaysTheSameInJson) {
  const std::string path = Saved(sim::Pipeline(sim::OneFOneB(2, 1), 1), "two");
  const Outcome outcome = RunPlanCommand({"explain", path, "--json", kQuarter[0], kQuarter[1], kQuarter[2]});
  EXPECT_EQ(outcome.error, "");
  const auto json = nlohmann::json::parse(outcome.output);
  EXPECT_DOUBLE_EQ(json["step_s"].get<double>(), 6.5);
  EXPECT_TRUE(json["name"].is_null());
  EXPECT_TRUE(json["decision"].is_null());
  EXPECT_DOUBLE_EQ(json["division"]["waiting_s"].get<double>(), 3);
  EXPECT_EQ(json["communication"].size(), 2u);
  EXPECT_EQ(json["memory"]["at_peak"].size(), 7u);
  EXPECT_EQ(json["prices"].size(), 4u);
  EXPECT_EQ(RunPlanCommand({"explain", path, "x", "--json"}).status, 0);
  EXPECT_EQ(
      RunPlanCommand({"explain", path, "nobody"}).error,
      path +
          ": expected an actor, a kernel, a buffer or a layer of the plan, got `nobody`; there are forward, backward, "
          "send_y, receive_dy, receive_x, send_dx");
  EXPECT_EQ(RunPlanCommand({"explain", Saved(plan::ReadCorpusPlan("tests/plans/blocked_slot.txtpb")->plan, "blocked")})
                .error.find(testing::TempDir() + "/blocked.plan: blocked: "),
            0u);
}

}  // namespace
}  // namespace weft::tools
