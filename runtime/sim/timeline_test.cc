#include "runtime/sim/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/fixtures/pipeline_plans.h"

namespace weft::sim {
namespace {

TEST(TimelineTest, DrawsUnitsByMicroBatch) {
  const plan::Plan plan = Pipeline(OneFOneB(2, 3), 3);
  const Report report = *Simulate(plan, plan::Machine(), {.unit_times = true});
  EXPECT_EQ(TimelineText(plan, report, {.unit_times = true}),
            "stage 0 compute  F0 F1 .  .  B0 B0 F2 B1 B1 .  B2 B2\n"
            "stage 1 compute  .  F0 B0 B0 F1 B1 B1 F2 B2 B2 .  .\n"
            "step 12 units, a column 1 units; bubble 25.0 %, exposed communication 0 units\n"
            "F forward, B backward, F2 of micro-batch 2, . idle\n");
}

// Whatever the width, each unit is named or counted beside another.
TEST(TimelineTest, DropsNoUnit) {
  const plan::Plan plan = Pipeline(OneFOneB(2, 8), 8);
  const Report report = *Simulate(plan, plan::Machine(), {.unit_times = true});
  for (int columns : {1, 2, 5, 13, 40}) {
    std::istringstream text(TimelineText(plan, report, {.unit_times = true, .columns = columns}));
    for (int stage = 0; stage < 2; ++stage) {
      std::string line, cell;
      std::getline(text, line);
      std::istringstream cells(line);
      cells >> cell >> cell >> cell;
      std::set<std::string> named;
      int merged = 0;
      while (cells >> cell) {
        const size_t plus = cell.find('+');
        if (cell != ".") named.insert(cell.substr(0, plus));
        if (plus != std::string::npos) merged += std::stoi(cell.substr(plus));
      }
      EXPECT_EQ(named.size() + merged, 16u) << columns << ": " << line;
    }
  }
  EXPECT_EQ(
      TimelineText(plan, report, {.unit_times = true, .columns = 3}),
      "stage 0 compute  B0+4 B2+5 B5+4\n"
      "stage 1 compute  B0+5 B3+5 B6+3\n"
      "step 27 units, a column 9 units; bubble 11.1 %, exposed communication 0 units\n"
      "F forward, B backward, F2 of micro-batch 2, F2+3 and three units that are shorter than a column, . idle\n");
}

TEST(TimelineTest, FitsTheScreen) {
  const plan::Plan plan = Pipeline(OneFOneB(2, 8), 8);
  const Report report = *Simulate(plan, plan::Machine(), {.unit_times = true});
  size_t before = 0;
  for (int width : {60, 80, 120, 200}) {
    const std::string drawn = TimelineText(plan, report, {.unit_times = true, .width = width});
    std::istringstream text(drawn);
    size_t widest = 0;
    for (std::string line; std::getline(text, line);) {
      EXPECT_LE(line.size(), static_cast<size_t>(width)) << drawn;
      widest = std::max(widest, line.size());
    }
    EXPECT_GT(widest, before) << drawn;  // uses what there is
    before = widest;
    EXPECT_NE(drawn.find("F forward"), std::string::npos);
  }
}

TEST(TimelineTest, DrawsStreamsThatAreBusyInColumnsOfTime) {
  plan::Plan plan = Pipeline(OneFOneB(2, 1), 1);
  plan.mutable_stages(1)->mutable_actors(0)->set_chunk(2);
  plan.mutable_stages(1)->mutable_actors(1)->set_chunk(7);
  plan::Machine machine;
  machine.launch_s = 0;
  machine.node = {1e30, 1};
  const Report report = *Simulate(plan, machine);
  EXPECT_EQ(TimelineText(plan, report, {.columns = 8}),
            "stage 0 compute     F0   .    .    .    .    .    B0   B0\n"
            "stage 0 send_y      .    O0   .    .    .    .    .    .\n"
            "stage 0 receive_dy  .    .    .    .    .    O0   .    .\n"
            "stage 1 compute     .    .    F0   B0.1 B0.1 .    .    .\n"
            "stage 1 receive_x   .    O0   .    .    .    .    .    .\n"
            "stage 1 send_dx     .    .    .    .    .    O0   .    .\n"
            "step 8.00 s, a column 1.00 s; bubble 62.5 %, exposed communication 2.00 s\n"
            "F forward, B backward, O other work, F2 of micro-batch 2, F2.1 of the stage's second chunk, . idle\n");
}

TEST(TimelineTest, IsWrittenAsAMeasuredTraceIs) {
  const plan::Plan plan = Pipeline(OneFOneB(2, 1), 1, 4);
  plan::Machine machine;
  machine.launch_s = 0;
  machine.node = {1e30, 0.5};
  const auto json = nlohmann::json::parse(TimelineOf(plan, *Simulate(plan, machine), 7).ToJson());
  nlohmann::json last;
  std::set<std::string> names;
  for (const auto& event : json["traceEvents"]) {
    if (event["name"] == "process_name") names.insert(event["args"]["name"]);
    if (event["name"] == "backward" && event["pid"] == kPredictedProcess + 4) last = event;
  }
  EXPECT_EQ(names, (std::set<std::string>{"rank 0 (predicted)", "rank 4 (predicted)"}));
  EXPECT_EQ(last["ph"], "X");
  EXPECT_EQ(last["args"]["step"], 8);
  EXPECT_DOUBLE_EQ(last["ts"].get<double>(), 2.5e6);
  EXPECT_DOUBLE_EQ(last["dur"].get<double>(), 2e6);
}

}  // namespace
}  // namespace weft::sim
