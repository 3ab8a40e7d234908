#include "tools/plan/commands.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

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
    for (const char* later : {"timeline", "explain", "simulate"}) {
      EXPECT_EQ(outcome.output.find(later), std::string::npos) << later;
    }
  }
  EXPECT_EQ(RunPlanCommand({"show", "--help"}).status, 0);
}

TEST(PlanTool, RefusesWrongRequests) {
  ExpectWrong({}, "expected a command: show, verify, memory or diff; see weft-plan --help");
  ExpectWrong({"print"}, "unknown command `print`: expected show, verify, memory or diff; see weft-plan --help");
  ExpectWrong({"timeline", "x.plan"}, "timeline is not part of this version");
  ExpectWrong({"explain"}, "explain is not part of this version");
  ExpectWrong({"simulate"}, "simulate is not part of this version");
  ExpectWrong({"show"}, "show: expected 1 plan, got 0; see weft-plan --help");
  ExpectWrong({"diff", "a"}, "diff: expected 2 plans, got 1; see weft-plan --help");
  ExpectWrong({"show", "a", "--yaml"}, "show: unknown flag --yaml; see weft-plan --help");
  ExpectWrong({"show", "a", "--json=1"}, "--json: expected no value");
  ExpectWrong({"verify", "a", "--json"}, "verify: unknown flag --json; see weft-plan --help");
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

TEST(PlanTool, Verifies) {
  const std::string path = Saved("pipeline");
  const Outcome outcome = RunPlanCommand({"verify", path, "--device-memory=1.5KiB"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(outcome.output, path + ": verified: 2 stages, 2 ranks, 34 acts a step\n");
  EXPECT_EQ(RunPlanCommand({"verify", path, "--device-memory=1535"}).status, 2);
  const std::string blocked = Saved("blocked_slot");
  const Outcome refused = RunPlanCommand({"verify", blocked});
  EXPECT_EQ(refused.status, 2);
  EXPECT_EQ(refused.error.find(blocked + ": blocked: `forward` (micro-batch 1)"), 0u) << refused.error;
  EXPECT_EQ(RunPlanCommand({"show", blocked}).status, 0) << "a blocked plan can be looked at";
}

TEST(PlanTool, PrintsJson) {
  const auto show = nlohmann::json::parse(RunPlanCommand({"show", Saved("train"), "--json", "--kernels"}).output);
  EXPECT_EQ(show["stages"][0]["actors"][1]["kernels"][0]["name"], "einsum");
  EXPECT_EQ(show["stages"][0]["actors"][3]["collectives"][0]["bytes"], 256);
  EXPECT_EQ(show["stages"][0]["parameters"][0]["sbp"], "tensor=S(1)");
  EXPECT_EQ(show["metrics"][0]["buffer"], "loss");
  const auto memory = nlohmann::json::parse(RunPlanCommand({"memory", Saved("train"), "--json"}).output);
  EXPECT_EQ(memory["stages"][0]["lower_bound_bytes"], 1472);
  EXPECT_EQ(memory["stages"][0]["categories"]["optimizer"]["peak_bytes"], 512);
  EXPECT_EQ(memory["stages"][0]["peak"]["actor"], "backward");
}

TEST(PlanTool, TellsPlansApart) {
  const std::string train = Saved("train"), apart = Saved("apart");
  EXPECT_EQ(RunPlanCommand({"diff", train, train}).status, 0);
  const Outcome outcome = RunPlanCommand({"diff", train, apart});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.error, "");
  EXPECT_NE(outcome.output.find("-       once a step: dw.reduce, loss.reduce\n+       once a step: dw.reduce\n"),
            std::string::npos)
      << outcome.output;
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
