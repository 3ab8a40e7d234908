#include "tools/compare/compare.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "runtime/plan/load.h"

namespace weft::tools {
namespace {

constexpr char kJob[] = "models/gpt2/tiny.job";

std::vector<Set> setsOf(const std::vector<std::string> &texts) {
  std::vector<Set> sets;
  for (const std::string &text : texts) {
    sets.push_back(parseSet(text));
  }
  return sets;
}

absl::StatusOr<std::vector<Entry>> compared(const std::vector<std::string> &sets,
                                            const std::vector<std::string> &plans = {}) {
  return compare({sets.empty() ? "" : kJob, setsOf(sets), plans}, [](size_t, size_t, const std::string &) {});
}

// What the compiler makes of the same overrides.
plan::Plan compiled(const std::string &set) {
  std::vector<std::string> ofJob, ofCluster;
  for (const std::string &text : parseSet(set)) {
    (IsClusterOverride(text) ? ofCluster : ofJob).push_back(text);
  }
  compiler::CompileOptions options;
  options.job = *LoadJob(kJob, ofJob);
  options.jobFile = kJob;
  options.cluster = *LoadCluster(LocateJob(options.job, kJob).cluster(), ofCluster);
  return compiler::compile(options)->plan;
}

void expectSame(const plan::Figures &a, const plan::Figures &b) {
  EXPECT_EQ(a.devices, b.devices);
  EXPECT_EQ(a.step_s, b.step_s);
  EXPECT_EQ(a.tokens_per_s, b.tokens_per_s);
  EXPECT_EQ(a.tokens_per_s_device, b.tokens_per_s_device);
  EXPECT_EQ(a.mfu, b.mfu);
  EXPECT_EQ(a.bubble_fraction, b.bubble_fraction);
  EXPECT_EQ(a.exposed_comm_s, b.exposed_comm_s);
  EXPECT_EQ(a.peak_bytes, b.peak_bytes);
  EXPECT_EQ(a.headroom_bytes, b.headroom_bytes);
  EXPECT_EQ(a.headroom_fraction, b.headroom_fraction);
}

// Also where a variant goes on from what another one has come to.
TEST(CompareTest, ARowIsWhatTheCompilerSays) {
  const std::vector<std::string> sets = {
      "",
      "dist.data=2",
      "dist.data=2 zero.stage=1",
      "dist.data=2 zero.stage=3",
      "dist.data=2 recompute.policy=FULL",
      "dist.data=2 zero.stage=3 recompute.policy=SELECTIVE graph.fusion=false",
      "dist.data=2 dist.tensor=2",
      "dist.pipeline=2 batch.micro=8 pipeline={schedule: ZERO_BUBBLE form: H1}",
      "dist.data=2 cluster.node.link_bytes_s=1e8",
      "dist.data=2 cluster.device.memory_bytes=20000000",
      "dist.data=2 cluster=../../clusters/8x8cpu.cluster",
      "model.set=layers=1 precision.compute=BF16",
  };
  const absl::StatusOr<std::vector<Entry>> entries = compared(sets);
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), sets.size());
  for (const std::string &set : sets) {
    SCOPED_TRACE(set);
    const auto entry =
        std::find_if(entries->begin(), entries->end(), [&](const Entry &it) { return it.set == parseSet(set); });
    ASSERT_NE(entry, entries->end());
    ASSERT_TRUE(entry->fits()) << entry->reason;
    expectSame(*entry->figures, plan::FiguresOf(compiled(set)));
  }
  EXPECT_TRUE(std::is_sorted(entries->begin(), entries->end(), [](const Entry &a, const Entry &b) {
    return a.figures->step_s < b.figures->step_s;
  })) << "the fastest first";
}

TEST(CompareTest, AnOpenLayoutIsTheChosenOne) {
  const std::string open = "graph.auto_parallel=true cluster=../../clusters/laptop.cluster batch={global: 32}";
  const absl::StatusOr<std::vector<Entry>> entries =
      compared({open, "cluster=../../clusters/laptop.cluster batch={global: 32} dist.tensor=4"});
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_TRUE((*entries)[0].fits()) << (*entries)[0].reason;
  EXPECT_EQ((*entries)[0].name.rfind(open + " dist.", 0), 0u) << (*entries)[0].name;
  EXPECT_LT((*entries)[0].figures->step_s, (*entries)[1].figures->step_s);
}

TEST(CompareTest, AWrongModelOfAnOpenLayoutIsAReason) {
  const std::string open = "graph.auto_parallel=true cluster=../../clusters/laptop.cluster batch={global: 32}";
  const absl::StatusOr<std::vector<Entry>> entries = compared({open + " model.set=heads=3", "dist.data=2"});
  ASSERT_TRUE(entries.ok()) << entries.status();
  EXPECT_EQ((*entries)[1].reason, "the model is wrong, as shown");
}

TEST(CompareTest, WhatCannotBeComesLastWithItsReason) {
  const absl::StatusOr<std::vector<Entry>> entries =
      compared({"dist.data=33", "cluster.device.memory_bytes=1000000", "dist.pipeline=9",
                "cluster.device.memory_bytes=2000000 dist.data=2", "dist.data=4", "dist.data=2 zero.stage=7"});
  ASSERT_TRUE(entries.ok()) << entries.status();
  std::vector<std::string> names;
  for (const Entry &entry : *entries) {
    names.push_back(entry.name);
    EXPECT_EQ(entry.reason.find('\n'), std::string::npos) << entry.reason;
  }
  EXPECT_EQ(names, (std::vector<std::string>{"dist.data=4", "cluster.device.memory_bytes=2000000 dist.data=2",
                                             "cluster.device.memory_bytes=1000000", "dist.data=33", "dist.pipeline=9",
                                             "dist.data=2 zero.stage=7"}));
  EXPECT_EQ((*entries)[0].reason, "");
  EXPECT_EQ((*entries)[1].reason, "does not fit: 11.3 MiB a rank, 9.36 MiB more than a device has");
  EXPECT_FALSE((*entries)[1].fits());
  EXPECT_LT((*entries)[1].figures->headroom_bytes, 0);
  EXPECT_EQ((*entries)[3].reason,
            "batch.micro: expected at least dist.data (33), which splits each micro-batch, got 32");
  EXPECT_EQ((*entries)[4].reason,
            "dist.pipeline: expected at most 4 stages, as the model may be cut into wte, h.0, h.1, ln_f, got 9");
  EXPECT_EQ((*entries)[5].reason, "zero.stage: expected 0, 1, 2 or 3, got 7");
  const std::string table = tableOf(*entries);
  EXPECT_NE(table.find("\ncannot be\n  cluster.device.memory_bytes=2000000 dist.data=2  does not fit: "),
            std::string::npos)
      << table;
}

TEST(CompareTest, WrongRequestsAreRefused) {
  EXPECT_EQ(compared({"", "dist.datta=2"}).status().message(),
            "dist.datta: unknown key datta: expected data, tensor, expert, context, pipeline; did you mean data?");
  EXPECT_EQ(compared({"", "cluster.node.rank=2"}).status().message(),
            "cluster.node.rank: unknown key rank: expected count, ranks, link_bytes_s, latency_s, cores; did you mean "
            "ranks?");
  EXPECT_EQ(
      compared({"dist.data=33", "dist.data=33 seed=4"}).status().message(),
      "models/gpt2/tiny.job: batch.micro: expected at least dist.data (33), which splits each micro-batch, got 32")
      << "what is wrong with all alike";
  const std::string job = testing::TempDir() + "wrong_line.job";
  std::ofstream(job) << "model { file: \"a.mlir\" }\nbatch { size: 3 }\n";
  EXPECT_EQ(compare({job, {{}, {"seed=3"}}, {}}, nullptr).status().message(), LoadJob(job, {}).status().message());
  EXPECT_EQ(compare({"none.job", {{}}, {}}, nullptr).status().message(), "none.job: expected a job file, found none");
  EXPECT_EQ(compared({}, {"none.plan"}).status().message(), "none.plan: cannot be opened: No such file or directory");
  const std::string foreign = testing::TempDir() + "/foreign.plan";
  std::ofstream(foreign) << "hello, world";
  EXPECT_EQ(compared({}, {foreign}).status().message(),
            foreign + ": not a plan: expected a file that weft-compile wrote");
}

TEST(CompareTest, AModelThatDoesNotParseIsShownOnce) {
  const std::string model = testing::TempDir() + "/wrong.mlir", job = testing::TempDir() + "/wrong.job";
  std::ofstream(model) << "model.graph @f(%x [2] f32) {\n  weft.rellu %x\n}\n";
  std::ofstream(job) << "model { file: \"wrong.mlir\" }\n";
  testing::internal::CaptureStderr();
  const absl::Status status =
      compare({job, {{"seed=1"}, {"seed=2"}}, {}}, [](size_t, size_t, const std::string &) {}).status();
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_NE(status.message().find("wrong.mlir: does not parse"), absl::string_view::npos) << status;
  EXPECT_NE(printed.find("wrong.mlir:2:3: error: unknown op weft.rellu"), std::string::npos) << printed;
  EXPECT_EQ(printed.find("error"), printed.rfind("error")) << printed;
}

TEST(CompareTest, PlansAreRowsToo) {
  const std::string path = testing::TempDir() + "/two.plan";
  const plan::Plan plan = compiled("dist.data=2");
  ASSERT_TRUE(plan::Save(plan, path).ok());
  const absl::StatusOr<std::vector<Entry>> entries = compared({"dist.data=2", ""}, {path});
  ASSERT_TRUE(entries.ok()) << entries.status();
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, path);
  EXPECT_EQ((*entries)[1].name, "dist.data=2");
  expectSame(*(*entries)[0].figures, plan::FiguresOf(plan));
  EXPECT_EQ((*entries)[0].figures->step_s, (*entries)[1].figures->step_s);
  EXPECT_EQ(compared({}, {path})->size(), 1u);
  const std::string other = testing::TempDir() + "/another_name";
  ASSERT_TRUE(plan::Save(plan, other).ok());
  EXPECT_TRUE(isPlan(path) && isPlan(other) && isPlan("none.plan"));
  EXPECT_FALSE(isPlan(kJob) || isPlan("dist.data=2") || isPlan("") || isPlan("models"));
}

TEST(CompareTest, TheTableSaysOnceWhatAllHave) {
  const std::string table = tableOf(*compared({"seed=3", "seed=3 dist.data=2", "dist.data=4 seed=3 batch.global=64"}));
  EXPECT_EQ(table.find("all with seed=3\n"), 0u) << table;
  EXPECT_NE(table.find("\n(nothing else)  "), std::string::npos) << table;
  EXPECT_NE(table.find("\ndist.data=4 batch.global=64  "), std::string::npos) << table;
  EXPECT_NE(table.find("\nsteps differ in their tokens: compare tokens/s, not steps\n"), std::string::npos) << table;
  EXPECT_EQ(tableOf(*compared({"", "dist.data=2"})).find("steps differ"), std::string::npos);
}

TEST(CompareTest, JsonHasTheSameKeysInEveryRow) {
  const auto json =
      nlohmann::json::parse(jsonOf(*compared({"dist.data=2", "dist.data=33", "cluster.device.memory_bytes=1000000"})));
  ASSERT_EQ(json["rows"].size(), 3u);
  const auto &fits = json["rows"][0], &large = json["rows"][1], &none = json["rows"][2];
  for (const auto &[key, value] : fits.items()) {
    EXPECT_TRUE(large.contains(key) && none.contains(key)) << key;
  }
  EXPECT_EQ(fits["overrides"], nlohmann::json::array({"dist.data=2"}));
  EXPECT_EQ(fits["fits"], true);
  EXPECT_TRUE(fits["plan"].is_null() && fits["reason"].is_null() && fits["headroom_bytes"].is_null());
  EXPECT_EQ(fits["tokens_per_step"], 2048);
  EXPECT_GT(fits["mfu"], 0.3);
  EXPECT_EQ(large["fits"], false);
  EXPECT_LT(large["headroom_bytes"], 0);
  EXPECT_TRUE(none["fits"].is_null() && none["step_s"].is_null() && none["devices"].is_null());
  EXPECT_TRUE(none["reason"].is_string());
}

} // namespace
} // namespace weft::tools
