#include "tools/launch/snapshots.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

class SnapshotsTest : public testing::Test {
 protected:
  SnapshotsTest() {
    std::string name = testing::TempDir() + "/launch snapshots.XXXXXX";
    folder_ = mkdtemp(name.data());
  }

  std::string Script(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << text << "\n";
    chmod(path.c_str(), 0755);
    return path;
  }

  static std::string Contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_;
};

TEST(ValueOfTest, TakesBothForms) {
  EXPECT_EQ(ValueOf({"p", "--a", "x", "--b=y"}, "--a"), "x");
  EXPECT_EQ(ValueOf({"p", "--a", "x", "--b=y"}, "--b"), "y");
  EXPECT_EQ(ValueOf({"p", "--ab", "x", "--a"}, "--a"), "");
}

TEST_F(SnapshotsTest, RunsHereAndOnTheOthersAndWaits) {
  const std::string log = folder_ + "/log";
  const std::string run = Script("run it's", "sleep 0.05; echo \"$HOST $*\" >> '" + log + "'");
  setenv("HOST", "here", 1);
  // As ssh does: a shell gets all words in one.
  ASSERT_EQ(system(("mkdir -p '" + folder_ + "/bin'").c_str()), 0);
  const std::string shell = Script("bin/shell", "host=$2; shift 2; HOST=$host exec sh -c \"$*\"");
  setenv("PATH", (folder_ + "/bin:" + getenv("PATH")).c_str(), 1);
  DropSnapshots(run, {"plan", "--snapshot-every", "5", "--checkpoint-dir=/a b/c"}, {"b", "c"}, {"shell -p"});
  std::string text = Contents(log);
  const std::string rest = " --drop-snapshots --checkpoint-dir /a b/c\n";
  for (const char* host : {"here", "b", "c"}) {
    const size_t at = text.find(host + rest);
    ASSERT_NE(at, std::string::npos) << host << ": " << text;
    text.erase(at, (host + rest).size());
  }
  EXPECT_EQ(text, "");
}

TEST_F(SnapshotsTest, WithoutSnapshotsNothingIsRun) {
  const std::string log = folder_ + "/log";
  DropSnapshots(Script("run", "echo >> '" + log + "'"), {"plan", "--checkpoint-dir", "x"}, {}, {});
  EXPECT_EQ(Contents(log), "");
}

}  // namespace
}  // namespace weft::launch
