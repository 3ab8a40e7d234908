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
  ASSERT_EQ(metadata.size(), 5u);  // two processes, three threads
  EXPECT_EQ(metadata[0]["args"]["name"], "rank 0");
  EXPECT_EQ(metadata[4]["args"]["name"], "compute \"x\"");
  EXPECT_EQ(metadata[4]["pid"], 3);
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
