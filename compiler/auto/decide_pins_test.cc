// Where parameters lie is searched too.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "absl/strings/str_cat.h"
#include "compiler/auto/decide.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"

namespace weft::compiler {
namespace {

// The models, with every `sbp(...)` replaced.
std::string copyOf(const std::string &name, const std::string &replacement) {
  const std::filesystem::path folder = std::filesystem::path(getenv("TEST_TMPDIR")) / name;
  std::filesystem::create_directories(folder / "gpt2");
  static const std::regex sbp(R"(sbp\(tensor = (\w+(\(\d\))?)\))");
  for (const char *file : {"layers.mlir", "gpt2/gpt2.mlir", "gpt2/small.job"}) {
    std::ifstream in(absl::StrCat("models/", file));
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    std::ofstream(folder / file) << std::regex_replace(text, sbp, replacement);
  }
  return (folder / "gpt2/small.job").string();
}

// GPT-2 with wide layers on 8 ranks, so that work and communication, not launches, decide.
absl::StatusOr<Decided> decided(const std::string &file, const std::vector<std::string> &overrides) {
  std::vector<std::string> all = {"graph.auto_parallel=true",
                                  "cluster=any",
                                  "precision.compute=BF16",
                                  "batch={global: 16}",
                                  "model.set=layers=4",
                                  "model.set=hidden=2048",
                                  "model.set=heads=16",
                                  "model.set=seq=512",
                                  "model.set=positions=512",
                                  "dist.pipeline=1",
                                  "dist.context=1",
                                  "batch.micro=16",
                                  "zero.stage=1"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  CompileOptions options;
  options.job = *LoadJob(file, all);
  options.jobFile = file;
  options.cluster = *LoadCluster("clusters/8xh200.cluster", {"cluster.node.count=1"});
  return decide(options, {});
}

double stepOf(const absl::StatusOr<Decided> &found) {
  EXPECT_TRUE(found.ok()) << found.status();
  return found.ok() ? found->plan.prediction().step_s() : 0;
}

TEST(DecidePinsTest, NoSlowerThanTheModelsPins) {
  for (const char *ranks : {"dist.tensor=2", "dist.tensor=8"}) {
    const double kept = stepOf(decided("models/gpt2/small.job", {ranks, "graph.keep_pins=true"}));
    const absl::StatusOr<Decided> found = decided("models/gpt2/small.job", {ranks});
    EXPECT_LE(stepOf(found), kept * (1 + 1e-9)) << ranks;
    const auto &open = found->plan.header().decision().open();
    EXPECT_NE(std::find(open.begin(), open.end(), "graph.pin"), open.end());
  }
}

TEST(DecidePinsTest, AModelWithoutPinsIsNoSlower) {
  const std::string bare = copyOf("bare", "");
  for (const char *ranks : {"dist.tensor=2", "dist.tensor=8"}) {
    const double pinned = stepOf(decided("models/gpt2/small.job", {ranks, "graph.keep_pins=true"}));
    const absl::StatusOr<Decided> found = decided(bare, {ranks});
    EXPECT_LE(stepOf(found), pinned * (1 + 1e-9)) << ranks;
    EXPECT_GT(found->job.graph().pin_size(), 0);
  }
  // Without a search no axis of such a model is of use.
  EXPECT_EQ(decided(bare, {"dist.tensor=2", "graph.keep_pins=true"}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(DecidePinsTest, WhatIsPinnedStays) {
  const std::string pinned = copyOf("pinned", "$& pinned");
  const absl::StatusOr<Decided> found = decided(pinned, {"dist.tensor=2"});
  ASSERT_TRUE(found.ok()) << found.status();
  for (const Pin &pin : found->job.graph().pin())
    EXPECT_TRUE(pin.parameter() == "*" || pin.parameter().find("ln_") != std::string::npos ||
                pin.parameter() == "wpe.weight" || pin.parameter().ends_with("c_proj.bias"))
        << pin.parameter();
}

TEST(DecidePinsTest, LittleMemoryMovesThem) {
  const std::string bare = copyOf("tight", "");
  std::vector<std::string> keys = {"dist.tensor=8", "dist.data=1", "recompute.policy=NONE"};
  const absl::StatusOr<Decided> free = decided(bare, keys);
  ASSERT_TRUE(free.ok()) << free.status();
  // 7 % less than that takes.
  const int64_t bytes = free->plan.stages(0).arena_bytes() * 93 / 100;
  keys.push_back(absl::StrCat("auto.reserve_bytes=", 141'000'000'000 - bytes));
  const absl::StatusOr<Decided> found = decided(bare, keys);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_LE(found->plan.stages(0).arena_bytes(), bytes);
  EXPECT_GE(stepOf(found), stepOf(free));
}

} // namespace
} // namespace weft::compiler
