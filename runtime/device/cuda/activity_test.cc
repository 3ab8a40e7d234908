// The records that activity.h describes are CUPTI's.
#include "runtime/device/cuda/activity.h"

#include "gtest/gtest.h"

#if HAVE_CUDA && __has_include("cupti.h")
#include "cupti.h"

namespace weft::activity {
namespace {

template <typename Mine, typename Theirs>
void ExpectTimes() {
  EXPECT_EQ(offsetof(Mine, begin), offsetof(Theirs, start));
  EXPECT_EQ(offsetof(Mine, end), offsetof(Theirs, end));
  EXPECT_EQ(offsetof(Mine, device), offsetof(Theirs, deviceId));
  EXPECT_EQ(offsetof(Mine, stream), offsetof(Theirs, streamId));
  EXPECT_LE(sizeof(Mine), sizeof(Theirs));
}

TEST(ActivityTest, RecordsAreTheHeaders) {
  ExpectTimes<KernelRecord, CUpti_ActivityKernel4>();
  ExpectTimes<KernelRecord, CUpti_ActivityKernel10>();
  EXPECT_EQ(offsetof(KernelRecord, name), offsetof(CUpti_ActivityKernel4, name));
  EXPECT_EQ(offsetof(KernelRecord, name), offsetof(CUpti_ActivityKernel10, name));
  ExpectTimes<CopyRecord, CUpti_ActivityMemcpy6>();
  EXPECT_EQ(offsetof(CopyRecord, bytes), offsetof(CUpti_ActivityMemcpy6, bytes));
  ExpectTimes<FillRecord, CUpti_ActivityMemset4>();
  EXPECT_EQ(offsetof(FillRecord, bytes), offsetof(CUpti_ActivityMemset4, bytes));
  EXPECT_EQ(kCopy, CUPTI_ACTIVITY_KIND_MEMCPY);
  EXPECT_EQ(kFill, CUPTI_ACTIVITY_KIND_MEMSET);
  EXPECT_EQ(kKernel, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  EXPECT_EQ(kFlushForced, static_cast<uint32_t>(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

}  // namespace
}  // namespace weft::activity
#endif
