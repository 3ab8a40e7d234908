#include "tools/launch/slurm.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace weft::launch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TasksByNodeTest, AsSlurmWritesThem) {
  EXPECT_THAT(TasksByNode("2"), ElementsAre(2));
  EXPECT_THAT(TasksByNode("2(x3),1,16(x2)"), ElementsAre(2, 2, 2, 1, 16, 16));
  for (const char* text : {"", "0", "2(x0)", "2(x", "two", "2,,1", "2(3)", "99999999"}) {
    EXPECT_THAT(TasksByNode(text), IsEmpty()) << text;
  }
}

class AllocationTest : public testing::Test {
 protected:
  // A scontrol that says so.
  void Say(const std::string& names) {
    const std::string folder = testing::TempDir() + "/slurm", path = folder + "/scontrol";
    mkdir(folder.c_str(), 0700);
    std::ofstream(path) << "#!/bin/sh\n[ \"$*\" = \"show hostnames node[1-2],other\" ] && printf '" << names << "'\n";
    chmod(path.c_str(), 0700);
    setenv("PATH", (folder + ":/usr/bin:/bin").c_str(), 1);
    setenv("SLURM_JOB_NODELIST", "node[1-2],other", 1);
    setenv("SLURM_TASKS_PER_NODE", "2(x2),1", 1);
  }

  std::string Read() {
    hosts_.clear();
    return ReadAllocation(hosts_);
  }

  std::vector<Host> hosts_;
};

TEST_F(AllocationTest, ItsNodesAreHosts) {
  Say("node1\\nnode2\\nother\\n");
  ASSERT_EQ(Read(), "");
  EXPECT_EQ(Hosts(hosts_).First(5), "node1:2,node2:2,other:1");
  EXPECT_THAT(SrunCommand(Hosts(hosts_).Used(3)),
              ElementsAre("srun", "--mpi=pmix", "--kill-on-bad-exit=0", "--wait=10", "--distribution=block",
                          "--nodes=2", "--ntasks=3", "--ntasks-per-node=2", "--nodelist=node1,node2"));
}

TEST_F(AllocationTest, WhatIsMissingIsSaid) {
  Say("");
  EXPECT_EQ(Read(), "expected the names of node[1-2],other from `scontrol show hostnames`, got none");
  Say("node1\\nnode2\\n");
  EXPECT_EQ(Read(), "expected SLURM_TASKS_PER_NODE for 2 nodes, such as 2(x2), got `2(x2),1`");
  unsetenv("SLURM_JOB_NODELIST");
  EXPECT_EQ(Read(), "expected an allocation of Slurm (SLURM_JOB_NODELIST), found none");
}

}  // namespace
}  // namespace weft::launch
