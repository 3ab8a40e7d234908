// Every job under models/ loads, and names a model file that exists.
#include <filesystem>

#include "compiler/job/job.h"
#include "gtest/gtest.h"

namespace weft {
namespace {

TEST(ModelsTest, EveryJobLoads) {
  int jobs = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("models")) {
    if (entry.path().extension() != ".job") {
      continue;
    }
    ++jobs;
    absl::StatusOr<Job> job = LoadJob(entry.path().string(), {});
    ASSERT_TRUE(job.ok()) << job.status();
    const Job located = LocateJob(*job, entry.path().string());
    EXPECT_TRUE(std::filesystem::exists(located.model().file())) << located.model().file();
  }
  EXPECT_GE(jobs, 7);
}

}  // namespace
}  // namespace weft
