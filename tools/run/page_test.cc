#include "tools/run/page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::run {
namespace {

nlohmann::json After(Course& course, int64_t first, int64_t last) {
  for (int64_t step = first; step <= last; ++step) course.Add({.step = step, .loss = 1.0f / static_cast<float>(step)});
  return nlohmann::json::parse(course.ToJson(100));
}

std::vector<int64_t> StepsOf(const nlohmann::json& json) {
  std::vector<int64_t> steps;
  for (const auto& row : json["rows"]) steps.push_back(row["step"]);
  return steps;
}

TEST(CourseTest, KeepsEvenlyManyStepsAndTheLast) {
  Course course(4);
  EXPECT_EQ(StepsOf(After(course, 1, 0)), std::vector<int64_t>());
  EXPECT_EQ(StepsOf(After(course, 1, 4)), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(StepsOf(After(course, 5, 5)), (std::vector<int64_t>{2, 4, 5}));
  const nlohmann::json json = After(course, 6, 21);
  EXPECT_EQ(StepsOf(json), (std::vector<int64_t>{8, 16, 21}));
  EXPECT_EQ(json["every"], 8);
  EXPECT_EQ(json["steps"], 100);
  EXPECT_FLOAT_EQ(json["rows"][1]["loss"].get<float>(), 1.0f / 16);
}

TEST(CourseTest, KeepsEvaluationsUntilTheyAreMany) {
  Course course(8);
  for (int64_t step = 1; step <= 20; ++step) {
    trace::StepMetrics metrics{.step = step};
    if (step % 7 == 0) metrics.evaluation = {{"loss", 0.5}};
    course.Add(metrics);
  }
  EXPECT_EQ(StepsOf(nlohmann::json::parse(course.ToJson(20))), (std::vector<int64_t>{4, 7, 8, 12, 14, 16, 20}));
  Course many(4);
  for (int64_t step = 1; step <= 20; ++step) many.Add({.step = step, .evaluation = {{"loss", 0.5}}});
  EXPECT_EQ(StepsOf(nlohmann::json::parse(many.ToJson(20))), (std::vector<int64_t>{8, 16, 20}));
}

// A run that goes on begins with no row of its own.
TEST(CourseTest, BeginsAnywhere) {
  Course course(4);
  EXPECT_EQ(StepsOf(After(course, 7, 8)), (std::vector<int64_t>{7, 8}));
}

}  // namespace
}  // namespace weft::run
