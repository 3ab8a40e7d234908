#include "tools/plan/commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "compiler/job/cluster.h"
#include "runtime/plan/load.h"
#include "tests/plans/corpus.h"

namespace weft::tools {
namespace {

// Writes a plan of the corpus as a file; returns its path.
std::string Saved(const std::string& name) {
  const std::string path = testing::TempDir() + "/" + name + ".plan";
  EXPECT_TRUE(plan::Save(plan::ReadCorpusPlan("tests/plans/" + name + ".txtpb")->plan, path).ok());
  return path;
}

void ExpectWrong(const std::vector<std::string>& arguments, const std::string& error) {
  const Outcome outcome = RunPlanCommand(arguments);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.error, error);
  EXPECT_EQ(outcome.output, "");
}

TEST(PlanTool, TeachesWhatItCanAndNothingElse) {
  for (const char* ask : {"--help", "help", "-h"}) {
    const Outcome outcome = RunPlanCommand({ask});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_NE(outcome.output.find("weft-plan show PLAN"), std::string::npos);
  }
  EXPECT_EQ(RunPlanCommand({"show", "--help"}).status, 0);
}

TEST(PlanTool, RefusesWrongRequests) {
  ExpectWrong(
      {},
      "expected a command: show, verify, memory, diff, job, code, simulate, explain, sharding, timeline or report; see "
      "weft-plan --help");
  ExpectWrong({"print"},
              "unknown command `print`: expected show, verify, memory, diff, job, code, simulate, explain, sharding, "
              "timeline or report; see "
              "weft-plan --help");
  ExpectWrong({"compare", "a.job"},
              "compare: expected weft plan compare, or weft-plan-compare: it compiles, which this program cannot");
  ExpectWrong({"explain"}, "explain: expected 1 plan, got 0; see weft-plan --help");
  ExpectWrong({"explain", "a", "h.0", "h.1"}, "explain: expected 1 plan, got 2; see weft-plan --help");
  ExpectWrong({"explain", "a", "--columns=4"}, "explain: unknown flag --columns; see weft-plan --help");
  ExpectWrong({"simulate"}, "simulate: expected 1 plan, got 0; see weft-plan --help");
  ExpectWrong({"timeline", "a", "-o"}, "-o: expected a value, as in -o FILE");
  ExpectWrong({"timeline", "a", "--columns=0"}, "--columns: expected 1 or more, got `0`");
  ExpectWrong({"simulate", "a", "--columns=4"}, "simulate: unknown flag --columns; see weft-plan --help");
  ExpectWrong({"show"}, "show: expected 1 plan, got 0; see weft-plan --help");
  ExpectWrong({"diff", "a"}, "diff: expected 2 plans, got 1; see weft-plan --help");
  ExpectWrong({"show", "a", "--yaml"}, "show: unknown flag --yaml; see weft-plan --help");
  ExpectWrong({"show", "a", "--json=1"}, "--json: expected no value");
  ExpectWrong({"report", "a", "b", "c"}, "report: expected 1 to 2 plans, got 3; see weft-plan --help");
  ExpectWrong({"report", "a", "--trace"}, "--trace: expected a value, as in --trace=trace.json");
  ExpectWrong({"job", "a", "--json"}, "job: unknown flag --json; see weft-plan --help");
  ExpectWrong({"verify", "a", "--device-memory"}, "--device-memory: expected a value, as in --device-memory=80GiB");
  ExpectWrong({"verify", "a", "--device-memory=lots"},
              "--device-memory: expected a size such as 80GiB or 1000000, got `lots`");
}

TEST(PlanTool, RefusesWrongPlans) {
  const std::string missing = testing::TempDir() + "/missing.plan";
  ExpectWrong({"show", missing}, missing + ": cannot be opened: No such file or directory");
  const std::string foreign = testing::TempDir() + "/foreign.plan";
  std::ofstream(foreign) << "hello, world";
  ExpectWrong({"verify", foreign}, foreign + ": not a plan: expected a file that weft-compile wrote");
  const std::string invalid = Saved("buffer_offset");
  ExpectWrong({"show", invalid}, invalid + ": stage 0: buffer `x`: offset: expected a multiple of 64, got 513");
}

TEST(PlanTool, ReportsAnyPlan) {
  int plans = 0;
  const auto corpus = plan::ReadCorpus("tests/plans");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  for (const plan::CorpusPlan& it : *corpus) {
    if (!it.expect.empty()) continue;
    const std::string path = testing::TempDir() + "/" + it.file + ".plan", page = testing::TempDir() + "/page.html";
    ASSERT_TRUE(plan::Save(it.plan, path).ok());
    const Outcome outcome = RunPlanCommand({"report", path, "--json"});
    ASSERT_EQ(outcome.error, "") << it.file;
    const nlohmann::json data = nlohmann::json::parse(outcome.output);
    EXPECT_EQ(data["plans"][0]["timeline"]["stages"].size(), it.plan.stages_size()) << it.file;
    EXPECT_EQ(RunPlanCommand({"report", path, "-o", page}).error, "") << it.file;
    ++plans;
  }
  EXPECT_GT(plans, 10);
  const std::string path = Saved("pipeline"), nowhere = testing::TempDir() + "/none/page.html";
  EXPECT_NE(RunPlanCommand({"report", path, "-o", nowhere}).error.find(nowhere), std::string::npos);
  ExpectWrong({"report", path, "--trace", "none.json"}, "none.json: expected a trace of weft-run, found none");
}

TEST(PlanTool, ShowsWhichRankHoldsWhat) {
  const std::string path = Saved("collectives");
  const plan::Plan plan = plan::ReadCorpusPlan("tests/plans/collectives.txtpb")->plan;
  for (const plan::Buffer& buffer : plan.stages(0).buffers()) {
    const Outcome outcome = RunPlanCommand({"sharding", path, buffer.name(), "--json"});
    ASSERT_EQ(outcome.error, "") << buffer.name();
    const nlohmann::json stage = nlohmann::json::parse(outcome.output)["stages"][0];
    int64_t held = 0;
    std::set<int> ranks;
    for (const nlohmann::json& part : stage["parts"]) {
      held += part["shape"][0].get<int64_t>() * part["shape"][1].get<int64_t>();
      for (int rank : part["ranks"]) EXPECT_TRUE(ranks.insert(rank).second) << buffer.name();
    }
    EXPECT_EQ(held, buffer.shape(0) * buffer.shape(1)) << buffer.name();  // the parts are the tensor
    EXPECT_EQ(ranks, (std::set<int>{0, 1, 2, 3})) << buffer.name();
  }
  ExpectWrong({"sharding", path, "none"}, path + ": expected a tensor called `none`, found none");
  ExpectWrong({"sharding", path}, "sharding: expected a plan and a name, got 1 plan; see weft-plan --help");
}

TEST(PlanTool, Verifies) {
  const std::string path = Saved("pipeline");
  const Outcome outcome = RunPlanCommand({"verify", path, "--device-memory=1.5KiB"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(outcome.output, path + ": verified: 2 stages, 2 ranks, 34 acts a step\n");
  EXPECT_EQ(nlohmann::json::parse(RunPlanCommand({"verify", path, "--json"}).output),
            nlohmann::json::parse(R"({"verified": true, "stages": 2, "ranks": 2, "acts": 34})"));
  EXPECT_EQ(RunPlanCommand({"verify", path, "--device-memory=1535"}).status, 2);
  const std::string blocked = Saved("blocked_slot");
  const Outcome refused = RunPlanCommand({"verify", blocked});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error.find(blocked + ": blocked: `forward` (micro-batch 1)"), 0u) << refused.error;
  EXPECT_EQ(RunPlanCommand({"show", blocked}).status, 0) << "a blocked plan can be looked at";
}

TEST(PlanTool, Simulates) {
  const std::string path = Saved("train");
  const auto of = [&](const std::vector<std::string>& keys) {
    std::vector<std::string> arguments = {"simulate", path, "--json"};
    arguments.insert(arguments.end(), keys.begin(), keys.end());
    const Outcome outcome = RunPlanCommand(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    return nlohmann::json::parse(outcome.output);
  };
  const auto json = of({});
  EXPECT_GT(json["step_s"], 0);
  EXPECT_EQ(json["stages"][0]["peak_bytes"], 1856);
  EXPECT_EQ(json["stages"][0]["ranks"], 4);
  EXPECT_GT(json["bubble_fraction"], 0);
  const double more = of({"cluster.node.latency_s=1"})["exposed_comm_s"];
  EXPECT_GT(more, json["exposed_comm_s"].get<double>() + 0.9);
  EXPECT_EQ(of({"--unit-times"})["step_s"], 0) << "the corpus has no phases";
  // On the cluster of a file, and with more keys in any order.
  const std::string file = testing::TempDir() + "/slow.cluster";
  std::ofstream(file) << "device { kind: 'cpu' } node { count: 1 ranks: 4 latency_s: 1 }";
  const double slow = of({"cluster=" + file})["exposed_comm_s"];
  EXPECT_GT(slow, json["exposed_comm_s"].get<double>() + 0.9);
  EXPECT_GT(of({"cluster.node.latency_s=2", "cluster=" + file})["exposed_comm_s"], slow + 0.9);
}

TEST(PlanTool, RefusesWhatItCannotSimulate) {
  const std::string path = Saved("train"), blocked = Saved("blocked_slot");
  ExpectWrong(
      {"simulate", path, "cluster.node.rank=4"},
      "cluster.node.rank: unknown key rank: expected count, ranks, link_bytes_s, latency_s, cores; did you mean "
      "ranks?");
  ExpectWrong({"simulate", path, "cluster.node.ranks=3"},
              path + ": cluster: expected at least 4 ranks, as the plan has, got 1 x 3 (node.count x node.ranks)");
  ExpectWrong({"simulate", path, "cluster=none.cluster"}, "none.cluster: expected a cluster file, found none");
  ExpectWrong({"simulate", path, "cluster=clusters/dgx_h100.cluster"},
              "clusters/dgx_h100.cluster: device.kind: expected cpu, which " + path + " is for, got cuda");
  ExpectWrong({"simulate", path, "dist.data=4"}, "override: expected cluster.key.path=value, got \"dist.data=4\"");
  EXPECT_EQ(RunPlanCommand({"simulate", blocked}).error.find(blocked + ": blocked: "), 0u);
  ExpectWrong({"timeline", path, "--with=none.json"}, "none.json: expected a trace of weft-run, found none");
  ExpectWrong({"timeline", path, "-o", "/none/t.json"},
              "/none/t.json: the timeline cannot be written: No such file or directory");
}

TEST(PlanTool, DrawsBesideAMeasuredTrace) {
  const std::string path = Saved("train"), trace = testing::TempDir() + "/run.json";
  const std::string merged = testing::TempDir() + "/merged.json";
  std::ofstream(trace) << R"({"displayTimeUnit":"ms","traceEvents":[
    {"ph":"M","name":"process_name","pid":0,"tid":0,"args":{"name":"rank 0"}},
    {"ph":"X","name":"forward","pid":0,"tid":0,"ts":100,"dur":5,"args":{"step":1,"micro_batch":0}},
    {"ph":"X","name":"forward","pid":0,"tid":0,"ts":300,"dur":5,"args":{"step":2,"micro_batch":0}}]})";
  EXPECT_EQ(RunPlanCommand({"timeline", path, "--with", trace, "-o", merged}).error, "");
  std::ifstream file(merged);
  const auto json = nlohmann::json::parse(file);
  double first = 1e9;
  int measured = 0;
  for (const auto& event : json["traceEvents"]) {
    if (event["ph"] != "X") continue;
    measured += event["pid"] == 0;
    if (event["pid"] == 0) continue;
    EXPECT_EQ(event["args"]["step"], 2);
    first = std::min(first, event["ts"].get<double>());
  }
  EXPECT_EQ(measured, 2);
  EXPECT_DOUBLE_EQ(first, 300);
}

TEST(PlanTool, PrintsJson) {
  const auto show = nlohmann::json::parse(RunPlanCommand({"show", Saved("train"), "--json", "--kernels"}).output);
  EXPECT_EQ(show["stages"][0]["actors"][1]["kernels"][0]["name"], "einsum");
  EXPECT_TRUE(show["stages"][0]["actors"][1]["kernels"][0]["cost"]["bytes"].is_number());
  EXPECT_EQ(show["stages"][0]["actors"][3]["collectives"][0]["bytes"], 256);
  EXPECT_EQ(show["stages"][0]["parameters"][0]["sbp"], "tensor=S(1)");
  EXPECT_EQ(show["metrics"][0]["buffer"], "loss");
  const auto memory = nlohmann::json::parse(RunPlanCommand({"memory", Saved("train"), "--json"}).output);
  EXPECT_EQ(memory["stages"][0]["lower_bound_bytes"], 1472);
  EXPECT_EQ(memory["stages"][0]["categories"]["optimizer"], 512);
  EXPECT_EQ(memory["stages"][0]["peak_bytes"], 1856);
  EXPECT_EQ(memory["stages"][0]["categories"].size(), 7);
  EXPECT_EQ(memory["stages"][0]["peak"]["actor"], "backward");
}

TEST(PlanTool, TellsPlansApart) {
  const std::string train = Saved("train"), apart = Saved("apart");
  EXPECT_EQ(RunPlanCommand({"diff", train, train}).status, 0);
  EXPECT_EQ(RunPlanCommand({"diff", train, apart, "--json"}).status, 1);
  EXPECT_EQ(nlohmann::json::parse(RunPlanCommand({"diff", train, train, "--json"}).output)["same"], true);
  const Outcome outcome = RunPlanCommand({"diff", train, apart});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(outcome.output.find("-       once a step: dw.reduce, loss.reduce\n+       once a step: dw.reduce\n"),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("            "), 0u) << "a summary comes first";
}

TEST(PlanTool, PrintsTheJobAsAFile) {
  plan::Plan plan = plan::ReadCorpusPlan("tests/plans/train.txtpb")->plan;
  const std::string path = testing::TempDir() + "/job.plan";
  plan.mutable_header()->mutable_job()->mutable_model()->set_file("m.mlir");
  *plan.mutable_header()->mutable_cluster() = *LoadCluster("");
  plan.mutable_header()->mutable_cluster()->mutable_node()->set_count(3);
  ASSERT_TRUE(plan::Save(plan, path).ok());
  const std::string text = RunPlanCommand({"job", path}).output;
  EXPECT_EQ(RunPlanCommand({"job", path}).error, "");
  EXPECT_EQ(text.find("# The job of " + path), 0u);
  EXPECT_NE(text.find("model {\n  file: \"m.mlir\"\n}\n"), std::string::npos) << text;
  EXPECT_NE(RunPlanCommand({"job", path, "--cluster"}).output.find("node {\n  count: 3\n"), std::string::npos);
}

TEST(PlanTool, ReadsSizes) {
  EXPECT_EQ(ParseBytes("1000"), 1000);
  EXPECT_EQ(ParseBytes("4KiB"), 4096);
  EXPECT_EQ(ParseBytes("1.5MiB"), 1572864);
  EXPECT_EQ(ParseBytes("80GiB"), 85899345920);
  for (const char* bad : {"", "GiB", "-1", "1GB", "1 KiB", "1e30"}) EXPECT_EQ(ParseBytes(bad), -1) << bad;
}

}  // namespace
}  // namespace weft::tools
