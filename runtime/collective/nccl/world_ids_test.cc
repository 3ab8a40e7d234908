// NCCL's ids over MPI. Run by mpirun on three ranks.
#include "runtime/collective/nccl/world_ids.h"

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace weft::collective {
namespace {

World* world = nullptr;

// Ids that say who made them, and which of his it is.
nccl::Nccl TableOf(int rank, bool fails = false) {
  nccl::Nccl table;
  table.GetErrorString = [](nccl::Result) { return "unhandled system error"; };
  table.GetUniqueId = [rank, fails, count = 0](nccl::UniqueId* id) mutable {
    if (fails) return nccl::kSystemError;
    std::snprintf(id->bytes, sizeof(id->bytes), "%d of rank %d", ++count, rank);
    return nccl::kSuccess;
  };
  return table;
}

const NcclName kAll{.title = "group all", .ranks = {0, 1, 2}};
const NcclName kBack{.title = "group back[1]", .channel = 1, .ranks = {2, 0}};
const NcclName kFirst{.title = "transfer 4 from rank 0 to rank 1", .ranks = {0, 1}};

bool Has(const NcclName& name) {
  for (int rank : name.ranks) {
    if (rank == world->rank()) return true;
  }
  return false;
}

TEST(WorldIdsTest, AllMembersGetTheIdOfTheFirst) {
  const nccl::Nccl table = TableOf(world->rank());
  WorldIds ids(world, &table);
  std::vector<NcclName> names;
  std::vector<std::string> expected;
  for (const auto& [name, id] : {std::pair(kAll, "1 of rank 0"), {kBack, "1 of rank 2"}, {kFirst, "2 of rank 0"}}) {
    if (!Has(name)) continue;
    names.push_back(name);
    expected.push_back(id);
  }
  for (int time = 0; time < 2; ++time) {
    const auto found = ids.Exchange(names);
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_EQ(found->size(), names.size());
    for (size_t i = 0; i < names.size() && time == 0; ++i) EXPECT_STREQ((*found)[i].bytes, expected[i].c_str());
  }
  EXPECT_TRUE(ids.Exchange({}).ok());
}

TEST(WorldIdsTest, AMemberThatDoesNotKnowIsNamedByAll) {
  const nccl::Nccl table = TableOf(world->rank());
  WorldIds ids(world, &table);
  const auto found = ids.Exchange(world->rank() == 2 ? std::vector<NcclName>{} : std::vector<NcclName>{kAll});
  EXPECT_EQ(found.status().message(), "NCCL: group all of ranks 0,1,2: rank 0 has it, rank 2 has not");
}

TEST(WorldIdsTest, WhoCannotMakeAnIdIsNamedByAll) {
  const nccl::Nccl table = TableOf(world->rank(), /*fails=*/world->rank() == 2);
  WorldIds ids(world, &table);
  const auto found = ids.Exchange(world->rank() == 1 ? std::vector<NcclName>{} : std::vector<NcclName>{kBack});
  EXPECT_EQ(found.status().message(), "rank 2: ncclGetUniqueId: NCCL: unhandled system error");
}

}  // namespace
}  // namespace weft::collective

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  auto made = weft::collective::World::Create();
  if (!made.ok() || (*made)->size() != 3) {
    std::fprintf(stderr, "expected three ranks: %s\n", made.status().ToString().c_str());
    return 2;
  }
  weft::collective::world = made->get();
  if ((*made)->rank() != 0) testing::GTEST_FLAG(brief) = true;
  const int failed = RUN_ALL_TESTS();
  return (*made)->Finish().ok() ? failed : 1;
}
