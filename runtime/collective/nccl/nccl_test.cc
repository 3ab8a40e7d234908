#include "runtime/collective/nccl/nccl.h"

#include <fstream>

#include "gtest/gtest.h"

#if __has_include(<nccl.h>)
#include <nccl.h>

#include <type_traits>
#endif

namespace weft::nccl {
namespace {

// A folder with a file of NCCL's name that is no library.
TEST(NcclTest, AFileThatIsNoLibraryIsAnError) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "/libnccl.so.2") << "no library";
  EXPECT_EQ(OpenNccl(folder).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NcclTest, OpensWhatThereIsOrSaysWhatIsMissing) {
  const auto opened = OpenNccl("");
  if (!opened.ok()) {
    EXPECT_EQ(opened.status().message(),
              "NCCL: found no libnccl.so.2 or libnccl.so (--cuda-libs FOLDER says where it is)");
    return;
  }
  EXPECT_GE((*opened)->version, 21800);
  const std::string text((*opened)->nccl.Check(kInvalidArgument, "a call", nullptr).message());
  EXPECT_EQ(text.find("a call: NCCL: invalid argument"), 0u) << text;
}

#if __has_include(<nccl.h>)

// Whether a parameter of ours is passed as NCCL's: the same class and size.
template <typename Ours, typename Theirs>
constexpr bool Alike() {
  return std::is_void_v<Ours> == std::is_void_v<Theirs> && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
         std::is_class_v<Ours> == std::is_class_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
}

template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename R, typename S, typename... Ours, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameShape<R(Ours...), S(Theirs...)> : std::bool_constant<Alike<R, S>() && (Alike<Ours, Theirs>() && ...)> {};

TEST(NcclTest, TheTableIsThatOfTheHeader) {
#define WEFT_SAME(field, ...) \
  static_assert(SameShape<__VA_ARGS__, std::remove_pointer_t<decltype(&::nccl##field)>>::value, #field);
  WEFT_NCCL_FUNCTIONS(WEFT_SAME)
#undef WEFT_SAME
  static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
  static_assert(offsetof(Config, size) == offsetof(ncclConfig_t, size));
  static_assert(offsetof(Config, magic) == offsetof(ncclConfig_t, magic));
  static_assert(offsetof(Config, version) == offsetof(ncclConfig_t, version));
  static_assert(offsetof(Config, blocking) == offsetof(ncclConfig_t, blocking));
  static_assert(offsetof(Config, cga_cluster_size) == offsetof(ncclConfig_t, cgaClusterSize));
  static_assert(offsetof(Config, min_ctas) == offsetof(ncclConfig_t, minCTAs));
  static_assert(offsetof(Config, max_ctas) == offsetof(ncclConfig_t, maxCTAs));
  static_assert(offsetof(Config, net_name) == offsetof(ncclConfig_t, netName));
  static_assert(kUndefined == NCCL_CONFIG_UNDEF_INT);
}

TEST(NcclTest, ConstantsAreThoseOfTheHeader) {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(Config().magic, config.magic);
  EXPECT_LE(Config().version, config.version);
  EXPECT_EQ(kSuccess, ncclSuccess);
  EXPECT_EQ(kUnhandledCudaError, ncclUnhandledCudaError);
  EXPECT_EQ(kSystemError, ncclSystemError);
  EXPECT_EQ(kInvalidArgument, ::ncclInvalidArgument);
  EXPECT_EQ(kInvalidUsage, ncclInvalidUsage);
  EXPECT_EQ(kRemoteError, ncclRemoteError);
  EXPECT_EQ(kInProgress, ncclInProgress);
  EXPECT_EQ(kSum, ncclSum);
  EXPECT_EQ(kMax, ncclMax);
  EXPECT_EQ(TypeOf(DType::kU8), ncclUint8);
  EXPECT_EQ(TypeOf(DType::kI32), ncclInt32);
  EXPECT_EQ(TypeOf(DType::kI64), ncclInt64);
  EXPECT_EQ(TypeOf(DType::kF16), ncclFloat16);
  EXPECT_EQ(TypeOf(DType::kF32), ncclFloat32);
  EXPECT_EQ(TypeOf(DType::kF64), ncclFloat64);
  EXPECT_EQ(TypeOf(DType::kBF16), ncclBfloat16);
}

#endif  // nccl.h

}  // namespace
}  // namespace weft::nccl
