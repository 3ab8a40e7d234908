#include "runtime/plan/names.h"

#include "gtest/gtest.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"

namespace weft::plan {
namespace {

// The values are compared where they are declared; here, what is said of them.
TEST(NamesTest, ElementTypesAreTheRuntimes) {
  for (const ElementType& row : kElementTypes) {
    const auto dtype = static_cast<DType>(row.type);
    EXPECT_EQ(TypeOf(dtype), row.type);
    EXPECT_EQ(NameOf(dtype), row.name);
    EXPECT_EQ(ElementBytes(dtype), static_cast<int64_t>(row.bytes));
  }
  for (const int damaged : {0, -1, DType_ARRAYSIZE}) {
    EXPECT_EQ(TypeOf(static_cast<DType>(damaged)), weft::DType::kInvalid);
    EXPECT_EQ(NameOf(static_cast<DType>(damaged)), "invalid");
    EXPECT_EQ(ElementBytes(static_cast<DType>(damaged)), 0);
  }
}

TEST(NamesTest, CollectivesAreCalledAsInTheTable) {
  for (int kind = 0; kind < Collective::Kind_ARRAYSIZE; ++kind) {
    EXPECT_EQ(NameOf(static_cast<Collective::Kind>(kind)), weft::NameOf(KindOf(static_cast<Collective::Kind>(kind))));
  }
  EXPECT_EQ(NameOf(static_cast<Collective::Kind>(Collective::Kind_ARRAYSIZE)), "invalid");
}

TEST(NamesTest, KindsAreCalledAsInTheProto) {
  EXPECT_EQ(NameOf(Buffer::OPTIMIZER), "optimizer");
  EXPECT_EQ(NameOf(Stream::COMMUNICATION), "communication");
  EXPECT_EQ(NameOf(static_cast<Buffer::Kind>(Buffer::Kind_ARRAYSIZE)), "invalid");
}

}  // namespace
}  // namespace weft::plan
