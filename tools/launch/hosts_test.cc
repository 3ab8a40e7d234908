#include "tools/launch/hosts.h"

#include "gtest/gtest.h"

namespace weft::launch {
namespace {

std::vector<Host> HostsOf(const std::string& text) {
  std::vector<Host> hosts;
  EXPECT_EQ(ReadHosts(text, hosts), "");
  return hosts;
}

TEST(HostsTest, AreUsedInTheirOrder) {
  Hosts hosts(HostsOf("a:2,b,c.far:4"));
  EXPECT_EQ(hosts.slots(), 7);
  EXPECT_EQ(hosts.First(2), "a:2");
  EXPECT_EQ(hosts.First(5), "a:2,b:1,c.far:2");
  EXPECT_EQ(hosts.RanksOn("a", 5), 2);
  EXPECT_EQ(hosts.RanksOn("c", 5), 2);
  EXPECT_EQ(hosts.RanksOn("c", 3), 0);
  EXPECT_FALSE(hosts.Lose("c.near"));
  EXPECT_FALSE(hosts.Lose("d"));
  EXPECT_TRUE(hosts.Lose("a"));
  EXPECT_EQ(hosts.First(5), "b:1,c.far:4");
  EXPECT_TRUE(hosts.Lose("c"));
  EXPECT_EQ(hosts.slots(), 1);
}

TEST(HostsTest, ReturnToTheirPlaces) {
  Hosts hosts(HostsOf("a:2,b,c.far:4"));
  EXPECT_TRUE(hosts.Lose("c"));
  EXPECT_TRUE(hosts.Lose("b.near"));
  EXPECT_FALSE(hosts.Lose("b")) << "it is lost already";
  EXPECT_EQ(hosts.Lost(), (std::vector<std::string>{"b", "c.far"}));
  EXPECT_EQ(hosts.NamesBut("a"), std::vector<std::string>());
  hosts.Return("b");
  EXPECT_EQ(hosts.First(7), "a:2,b:1");
  EXPECT_EQ(hosts.Lost(), std::vector<std::string>{"c.far"});
  EXPECT_EQ(hosts.slots(), 3);
}

TEST(HostsTest, WrongOnesAreRefused) {
  for (const char* text : {"a:", "a:0", "a:-1", "a:2x", ":2", "a,,b", "a:2:3"}) {
    std::vector<Host> hosts;
    EXPECT_EQ(ReadHosts(text, hosts), "expected names and how many ranks each takes, such as node01:8,node02:8, got `" +
                                          std::string(text) + "`");
  }
  std::vector<Host> hosts;
  EXPECT_EQ(ReadHosts("a,b,a.far", hosts), "expected each host once, got `a.far` again");
  hosts.clear();
  EXPECT_EQ(ReadHosts("", hosts), "expected a host, got none");
}

TEST(PlanOfRanksTest, TheLargestThatFits) {
  std::vector<PlanOfRanks> plans(3);
  EXPECT_EQ(ReadPlanOfRanks("2:two.plan", plans[0]), "");
  EXPECT_EQ(ReadPlanOfRanks("8:C:eight", plans[1]), "");
  EXPECT_EQ(ReadPlanOfRanks("4:four.plan", plans[2]), "");
  EXPECT_EQ(Largest(plans, 1), nullptr);
  EXPECT_EQ(Largest(plans, 3)->plan, "two.plan");
  EXPECT_EQ(Largest(plans, 7)->plan, "four.plan");
  EXPECT_EQ(Largest(plans, 8)->plan, "C:eight");
  PlanOfRanks plan;
  for (const char* text : {"", "4", "4:", ":a.plan", "0:a.plan", "a.plan"}) {
    EXPECT_EQ(ReadPlanOfRanks(text, plan),
              "expected how many ranks and their plan, such as 8:small.plan, got `" + std::string(text) + "`");
  }
}

}  // namespace
}  // namespace weft::launch
