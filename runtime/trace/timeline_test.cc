#include "runtime/trace/timeline.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace weft::trace {
namespace {

nlohmann::json Events(const Timeline& timeline, const std::string& phase) {
  nlohmann::json found = nlohmann::json::array();
  const nlohmann::json trace = nlohmann::json::parse(timeline.ToJson());
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == phase) found.push_back(event);
  }
  return found;
}

TEST(TimelineTest, NamesRanksAndStreams) {
  Timeline timeline(4);
  timeline.AddTrack(0, "compute", {});
  timeline.AddTrack(0, "communication", {});
  timeline.AddTrack(3, "compute \"x\"", {});
  const nlohmann::json metadata = Events(timeline, "M");
  ASSERT_EQ(metadata.size(), 10u);  // two processes, three threads: a name and a place for each
  EXPECT_EQ(metadata[0]["args"]["name"], "rank 0");
  EXPECT_EQ(metadata[8]["args"]["name"], "compute \"x\"");
  EXPECT_EQ(metadata[8]["pid"], 3);
  EXPECT_EQ(metadata[7]["name"], "process_sort_index");
  EXPECT_EQ(metadata[7]["args"]["sort_index"], 3);
}

TEST(TimelineTest, WritesEventsWithTheirStep) {
  Timeline timeline(4);
  Track* track = timeline.AddTrack(1, "compute", {"forward", "backward"});
  const int64_t now = NowNs();
  track->Add({.name = 1, .micro_batch = 2, .step = 7, .begin_ns = now, .end_ns = now + 1500});
  const nlohmann::json events = Events(timeline, "X");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0]["name"], "backward");
  EXPECT_EQ(events[0]["args"]["step"], 8);
  EXPECT_EQ(events[0]["args"]["micro_batch"], 2);
  EXPECT_DOUBLE_EQ(events[0]["dur"].get<double>(), 1.5);
  EXPECT_GE(events[0]["ts"].get<double>(), 0.0);
}

TEST(TimelineTest, WritesNotesAndArrows) {
  Timeline timeline(4, 0);
  timeline.Annotate({.of = [](int process, const std::string& name) -> Note {
                       if (name == "none") return {};
                       Note note{"send,forward", {{"bytes", "12"}, {"over", Quoted("a \"b\"")}}, {}, {}};
                       (process == 0 ? note.sends : note.receives) = {2};
                       return note;
                     },
                     .arrows = 5,
                     .micro_batches = 3});
  Track* from = timeline.AddTrack(0, "send", {"none", "x"});
  Track* to = timeline.AddTrack(1, "receive", {"x"});
  from->Add({.name = 0, .micro_batch = 1, .step = 7, .begin_ns = 500, .end_ns = 600});
  from->Add({.name = 1, .micro_batch = 1, .step = 7, .begin_ns = 1000, .end_ns = 3000});
  to->Add({.name = 0, .micro_batch = 1, .step = 7, .begin_ns = 2000, .end_ns = 4000});
  const nlohmann::json events = Events(timeline, "X"), begins = Events(timeline, "s"), ends = Events(timeline, "f");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_FALSE(events[0].contains("cat"));
  EXPECT_EQ(events[1]["cat"], "send,forward");
  EXPECT_EQ(events[1]["args"]["bytes"], 12);
  EXPECT_EQ(events[1]["args"]["over"], "a \"b\"");
  ASSERT_EQ(begins.size(), 1u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(begins[0]["id"], (7 * 3 + 1) * 5 + 2);
  EXPECT_EQ(ends[0]["id"], begins[0]["id"]);
  EXPECT_EQ(ends[0]["bp"], "e");
  EXPECT_DOUBLE_EQ(begins[0]["ts"].get<double>(), 1);
  EXPECT_DOUBLE_EQ(ends[0]["ts"].get<double>(), 4);
}

TEST(TimelineTest, CountsMemory) {
  Timeline timeline(4, 0);
  timeline.Annotate({.memory = [](int process, const std::string& name, int32_t micro_batch) {
    using Bytes = std::vector<std::pair<std::string, int64_t>>;
    return name == "copy" ? Bytes() : Bytes{{"parameters", 7}, {"activations", 10 * process + micro_batch}};
  }});
  Track* track = timeline.AddTrack(2, "compute", {"forward", "copy"});
  track->Add({.name = 0, .micro_batch = 1, .begin_ns = 1000, .end_ns = 2000});
  track->Add({.name = 1, .micro_batch = 1, .begin_ns = 2000, .end_ns = 3000});
  track->Add({.name = 0, .micro_batch = 3, .begin_ns = 4000, .end_ns = 5000});
  const nlohmann::json counters = Events(timeline, "C");
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_EQ(counters[0]["args"], (nlohmann::json{{"parameters", 7}, {"activations", 21}}));
  EXPECT_EQ(counters[1]["args"]["activations"], 23);
  EXPECT_EQ(counters[1]["pid"], 2);
  EXPECT_DOUBLE_EQ(counters[1]["ts"].get<double>(), 4);
}

TEST(TimelineTest, ProcessesMayHaveNamesAndTimesAnOrigin) {
  Timeline timeline(1, 0);
  Track* track = timeline.AddTrack(1000, "rank 3 (predicted)", "compute", {"forward"});
  track->Add({.begin_ns = 2000, .end_ns = 5000});
  EXPECT_EQ(Events(timeline, "M")[0]["args"]["name"], "rank 3 (predicted)");
  const nlohmann::json events = Events(timeline, "X");
  EXPECT_EQ(events[0]["pid"], 1000);
  EXPECT_DOUBLE_EQ(events[0]["ts"].get<double>(), 2.0);
  EXPECT_DOUBLE_EQ(events[0]["dur"].get<double>(), 3.0);
}

TEST(TimelineTest, KeepsTheNewestEvents) {
  Timeline timeline(3);
  Track* track = timeline.AddTrack(0, "compute", {"a"});
  for (int step = 0; step < 8; ++step) track->Add({.step = step});
  const nlohmann::json events = Events(timeline, "X");
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["args"]["step"], 6);
  EXPECT_EQ(events[2]["args"]["step"], 8);
}

TEST(TimelineTest, WritesAFileOrNamesIt) {
  Timeline timeline(1);
  const std::string path = std::string(std::getenv("TEST_TMPDIR")) + "/trace.json";
  ASSERT_TRUE(timeline.Write(path).ok());
  std::ifstream file(path);
  EXPECT_TRUE(nlohmann::json::parse(file).contains("traceEvents"));
  const absl::Status status = timeline.Write("/nonexistent/trace.json");
  EXPECT_NE(std::string(status.message()).find("/nonexistent/trace.json"), std::string::npos);
}

}  // namespace
}  // namespace weft::trace
