#include "tools/launch/folders.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class FoldersTest : public ::testing::Test {
 protected:
  FoldersTest() : parent_(std::string(std::getenv("TEST_TMPDIR")) + "/launch") {
    std::filesystem::remove_all(parent_);
    std::filesystem::create_directory(parent_);
  }

  std::set<std::string> Found() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(parent_)) names.insert(entry.path().string());
    return names;
  }

  // The folder of a launch that is killed.
  std::string Killed() const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const Folder folder(parent_);
      if (write(ends[1], folder.path().data(), folder.path().size()) < 0) _exit(1);
      pause();
    }
    std::string path(256, '\0');
    path.resize(static_cast<size_t>(read(ends[0], path.data(), path.size())));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    close(ends[0]);
    close(ends[1]);
    return path;
  }

  const std::string parent_;
};

TEST_F(FoldersTest, GoesWithItsLaunch) {
  auto folder = std::make_unique<Folder>(parent_);
  std::ofstream(folder->path() + "/socket") << "x";
  EXPECT_THAT(Found(), ElementsAre(folder->path()));
  folder.reset();
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(FoldersTest, TheNextLaunchRemovesThoseOfKilledOnes) {
  const std::string left = Killed();
  ASSERT_THAT(Found(), ElementsAre(left));
  const Folder next(parent_);
  EXPECT_THAT(Found(), ElementsAre(next.path()));
}

TEST_F(FoldersTest, OthersStay) {
  const Folder living(parent_);
  std::filesystem::create_directory(parent_ + "/weft.mine");  // no launch made it
  std::ofstream(parent_ + "/weft.txt") << "x";
  const Folder next(parent_);
  EXPECT_EQ(Found(),
            (std::set<std::string>{living.path(), next.path(), parent_ + "/weft.mine", parent_ + "/weft.txt"}));
}

TEST_F(FoldersTest, AMissingParentIsTheSystems) {
  const Folder folder(parent_ + "/none");
  EXPECT_EQ(folder.path().rfind("/tmp/weft.", 0), 0u) << folder.path();
}

}  // namespace
}  // namespace weft::launch
