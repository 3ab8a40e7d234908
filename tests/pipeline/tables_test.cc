// The tables of bubbles and stashes in docs/howto/choose_a_schedule.md, computed from compiled plans. When they change,
// the test prints what the page should say.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "runtime/plan/machine.h"
#include "runtime/plan/program.h"
#include "runtime/sim/simulate.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Size {
  int stages, micro_batches;
};
constexpr Size kSizes[] = {{2, 4}, {4, 8}, {4, 16}, {8, 16}};
constexpr Size kStashSize = {4, 8};

struct Known {
  const char* name;      // in the tables
  const char* pipeline;  // of the job
  const char* formula;   // idle time over the time of work
  double (*idle)(double p, double m);
  int chunks;
};
const Known kSchedules[] = {
    {"GPIPE", "schedule: GPIPE", "(p-1)/m", [](double p, double m) { return (p - 1) / m; }, 1},
    {"ONE_F_ONE_B", "schedule: ONE_F_ONE_B", "(p-1)/m", [](double p, double m) { return (p - 1) / m; }, 1},
    {"INTERLEAVED, v = 2", "schedule: INTERLEAVED chunks: 2", "(p-1)/vm",
     [](double p, double m) { return (p - 1) / (2 * m); }, 2},
    {"ZERO_BUBBLE, H1", "schedule: ZERO_BUBBLE form: H1", "(p-1)/3m",
     [](double p, double m) { return (p - 1) / (3 * m); }, 1},
    {"ZERO_BUBBLE, V", "schedule: ZERO_BUBBLE form: V", "(p-1)/6m",
     [](double p, double m) { return (p - 1) / (6 * m); }, 2},
};

plan::Plan Compiled(const Known& known, Size size) {
  absl::StatusOr<plan::Plan> plan =
      CompileJob("tests/pipeline/deep.job", {"model.set=layers=16", absl::StrCat("dist.pipeline=", size.stages),
                                             absl::StrCat("batch={global: ", size.micro_batches, " micro: 1}"),
                                             absl::StrCat("pipeline={", known.pipeline, "}")});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : plan::Plan();
}

// The share of a step in which stages are idle, forwards taking 1 and backwards 2.
double BubbleOf(const plan::Plan& plan) {
  absl::StatusOr<sim::Report> report = sim::Simulate(plan, plan::MachineOf(plan), {.unit_times = true});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? report->bubble_fraction : 0;
}

// How many micro-batches' activations a stage holds at most: of a chunk, from its first forward act for a micro-batch
// to the last act that reads what that left. Chunks are parts of a stage.
double StashOf(const plan::Stage& stage, int chunks) {
  std::set<int> readers;  // actors of backwards that read activations of forwards
  std::vector<int> writer(stage.buffers_size(), -1);
  for (int a = 0; a < stage.actors_size(); ++a) {
    for (int32_t b : stage.actors(a).writes()) writer[b] = a;
  }
  for (int a = 0; a < stage.actors_size(); ++a) {
    const plan::Actor& actor = stage.actors(a);
    if (actor.phase() != plan::Actor::BACKWARD && actor.phase() != plan::Actor::WEIGHT) continue;
    for (int32_t b : actor.reads()) {
      if (writer[b] < 0 || stage.actors(writer[b]).phase() != plan::Actor::FORWARD) continue;
      if (stage.buffers(b).kind() == plan::Buffer::ACTIVATION) readers.insert(a);
    }
  }
  using Part = std::pair<int, int64_t>;  // a chunk's micro-batch
  std::map<Part, int> first, last;       // acts on the compute stream
  int acts = 0;
  for (const plan::Stream& stream : stage.streams()) {
    if (stream.kind() != plan::Stream::COMPUTE) continue;
    for (const plan::Run& run : stream.runs()) {
      for (int64_t i = 0; i < run.repeat(); ++i) {
        for (int k = 0; k < run.actors_size(); ++k, ++acts) {
          const plan::Actor& actor = stage.actors(run.actors(k));
          const Part part(actor.chunk(), plan::MicroBatchOf(run, k, i));
          if (actor.phase() == plan::Actor::FORWARD) first.try_emplace(part, acts);
          if (readers.count(run.actors(k)) > 0) last[part] = acts;
        }
      }
    }
  }
  std::vector<int> change(acts + 1, 0);
  for (const auto& [part, act] : last) {
    ++change[first.at(part)];
    --change[act + 1];
  }
  int held = 0, most = 0;
  for (int it : change) most = std::max(most, held += it);
  return static_cast<double>(most) / chunks;
}

std::string Percent(double share) { return absl::StrFormat("%.1f %%", 100 * share); }

std::string BubbleTable() {
  std::string head = "| schedule | idle / work |", line = "| --- | --- |", rows;
  for (const Size& size : kSizes) {
    absl::StrAppend(&head, " p = ", size.stages, ", m = ", size.micro_batches, " |");
    line += " ---: |";
  }
  for (const Known& known : kSchedules) {
    absl::StrAppend(&rows, "| ", known.name, " | ", known.formula, " |");
    for (const Size& size : kSizes) absl::StrAppend(&rows, " ", Percent(BubbleOf(Compiled(known, size))), " |");
    rows += "\n";
  }
  return head + "\n" + line + "\n" + rows;
}

std::string StashTable() {
  std::string head = "| schedule |", line = "| --- |", rows;
  for (int stage = 0; stage < kStashSize.stages; ++stage) {
    absl::StrAppend(&head, " stage ", stage, " |");
    line += " ---: |";
  }
  for (const Known& known : kSchedules) {
    absl::StrAppend(&rows, "| ", known.name, " |");
    const plan::Plan plan = Compiled(known, kStashSize);
    for (const plan::Stage& stage : plan.stages()) {
      absl::StrAppend(&rows, " ", StashOf(stage, known.chunks), " |");
    }
    rows += "\n";
  }
  return head + "\n" + line + "\n" + rows;
}

class TablesTest : public testing::TestWithParam<Known> {};

// Of m micro-batches a stage works 3m; what it is idle is a share of that.
TEST_P(TablesTest, BubblesAreThoseOfTheFormulas) {
  const Known& known = GetParam();
  for (const Size& size : kSizes) {
    const double idle = known.idle(size.stages, size.micro_batches);
    EXPECT_NEAR(BubbleOf(Compiled(known, size)), idle / (1 + idle), 1e-9) << size.stages << " x " << size.micro_batches;
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, TablesTest, testing::ValuesIn(kSchedules));

TEST(StashTest, OneFOneBKeepsWhatIsStillToComeBack) {
  const plan::Plan plan = Compiled(kSchedules[1], kStashSize);
  for (int stage = 0; stage < kStashSize.stages; ++stage) {
    EXPECT_EQ(StashOf(plan.stages(stage), 1), kStashSize.stages - stage);
  }
}

TEST(StashTest, ZeroBubblesKeepWhatTheFirstStageOfOneFOneBDoes) {
  for (const Known& known : {kSchedules[3], kSchedules[4]}) {
    const plan::Plan plan = Compiled(known, kStashSize);
    for (const plan::Stage& stage : plan.stages())
      EXPECT_EQ(StashOf(stage, known.chunks), kStashSize.stages) << known.name;
  }
}

constexpr char kPage[] = "docs/howto/choose_a_schedule.md";

TEST(PageTest, HasTheseTables) {
  std::ifstream in(kPage);
  std::stringstream text;
  text << in.rdbuf();
  for (const std::string& table : {BubbleTable(), StashTable()}) {
    EXPECT_NE(text.str().find(table), std::string::npos) << "expected in " << kPage << ":\n" << table;
  }
}

}  // namespace
}  // namespace weft::tests
