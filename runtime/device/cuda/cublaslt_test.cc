#include "runtime/device/cuda/cublaslt.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/cuda/algorithms.h"
#include "runtime/device/cuda/library.h"

#if HAVE_CUDA
#include <type_traits>

#include "cublasLt.h"
#endif

namespace weft::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Scratch(const std::string& name) {
  const std::string folder = std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

void Write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const LibraryName kNone{
    .title = "cuNone", .files = {"libcuNone.so.2", "libcuNone.so.1"}, .wheels = {"nvidia/none/lib"}};

TEST(LibraryTest, AFolderComesFirstThenItsWheelsThenTheSystem) {
  const std::vector<std::string> folders = LibraryFolders(kNone, "/some");
  ASSERT_GE(folders.size(), 4u);
  EXPECT_THAT(std::vector(folders.begin(), folders.begin() + 4),
              ElementsAre("/some", "/some/nvidia/none/lib", "", "/usr/local/cuda/lib64"));
  EXPECT_EQ(LibraryFolders(kNone, "").front(), "");
}

TEST(LibraryTest, NoneIsOneLine) {
  EXPECT_EQ(OpenLibrary(kNone, "").status().message(),
            "cuNone: found no libcuNone.so.2 or libcuNone.so.1 (--cuda-libs FOLDER says where it is)");
  const absl::Status status = OpenLibrary(kNone, "/some").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "cuNone: found no libcuNone.so.2 or libcuNone.so.1 in /some");
}

TEST(LibraryTest, AFileInTheFolderThatIsNoLibraryIsAnError) {
  const std::string folder = Scratch("broken");
  Write(folder + "/libcuNone.so.1", "not a library");
  const absl::Status status = OpenLibrary(kNone, folder).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("libcuNone.so.1"));
}

TEST(LibraryTest, AWheelUnderTheFolderIsFound) {
  const std::string folder = Scratch("packages");
  std::filesystem::create_directories(folder + "/nvidia/none/lib");
  const LibraryName math{.title = "math", .files = {"libweft_math.so.6"}, .wheels = {"nvidia/none/lib"}};
  for (const char* system : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    std::error_code error;
    if (std::filesystem::exists(system)) {
      std::filesystem::copy_file(system, folder + "/nvidia/none/lib/libweft_math.so.6", error);
    }
  }
  const auto library = OpenLibrary(math, folder);
  ASSERT_TRUE(library.ok()) << library.status();
  EXPECT_EQ(library->path, folder + "/nvidia/none/lib/libweft_math.so.6");
}

TEST(CublasLtTest, ALibraryThatIsAnotherIsTooOld) {
  const std::string folder = Scratch("old");
  for (const char* system : {"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/libm.so.6"}) {
    std::error_code error;
    if (std::filesystem::exists(system)) std::filesystem::copy_file(system, folder + "/libcublasLt.so.13", error);
  }
  const absl::Status status = lt::OpenCublasLt(folder).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), StartsWith("cuBLASLt: expected a newer library, "));
}

lt::Algorithm Numbered(uint64_t number) { return {{number, 2, 3, 4, 5, 6, 7, ~uint64_t{0}}}; }

TEST(AlgorithmFileTest, KeepsWhatIsAddedAndWhatOthersAdd) {
  const std::string path = Scratch("kept") + "/deep/algorithms";
  AlgorithmFile one(path), other(path);
  EXPECT_TRUE(one.status().ok()) << one.status();
  ASSERT_TRUE(one.Add("NVIDIA H200 | a", Numbered(1)).ok());
  ASSERT_TRUE(other.Add("NVIDIA H200 | b", Numbered(2)).ok());
  const AlgorithmFile again(path);
  EXPECT_TRUE(again.status().ok()) << again.status();
  ASSERT_TRUE(again.Find("NVIDIA H200 | a").has_value());
  EXPECT_EQ(again.Find("NVIDIA H200 | a")->data[0], 1u);
  EXPECT_EQ(again.Find("NVIDIA H200 | a")->data[7], ~uint64_t{0});
  EXPECT_EQ(again.Find("NVIDIA H200 | b")->data[0], 2u);
  EXPECT_FALSE(again.Find("NVIDIA H200").has_value());
  // Nothing else is left in the folder.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()), {}), 1);
}

TEST(AlgorithmFileTest, ADamagedFileIsIgnoredInOneLineAndMadeAnew) {
  const std::string path = Scratch("damaged") + "/algorithms";
  ASSERT_TRUE(AlgorithmFile(path).Add("a", Numbered(1)).ok());
  const std::string good = Read(path);
  std::string flipped = good;
  flipped[flipped.size() - 10] ^= 1;
  for (const std::string& bad : {std::string("hello\n"), good.substr(0, good.size() - 1), flipped, good + "x\n"}) {
    Write(path, bad);
    AlgorithmFile file(path);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kDataLoss) << bad;
    EXPECT_THAT(std::string(file.status().message()),
                EndsWith("expected an algorithm; the file is ignored and made anew"));
    EXPECT_FALSE(file.Find("a").has_value());
    ASSERT_TRUE(file.Add("b", Numbered(2)).ok());
    const AlgorithmFile again(path);
    EXPECT_TRUE(again.status().ok()) << again.status();
    EXPECT_TRUE(again.Find("b").has_value());
  }
}

TEST(AlgorithmFileTest, WhereNothingCanBeWrittenItSaysSo) {
  EXPECT_EQ(AlgorithmFile("/dev/null/algorithms").Add("a", Numbered(1)).message(),
            "/dev/null/algorithms: cannot be written");
  EXPECT_TRUE(AlgorithmFile("").Add("a", Numbered(1)).ok());
}

TEST(AlgorithmFileTest, LiesAmongTheUsersCaches) {
  EXPECT_THAT(DefaultAlgorithmFile(), EndsWith("/.cache/weft/cublaslt.algorithms"));
}

#if HAVE_CUDA

template <typename Ours, typename Theirs>
constexpr bool Alike() {
  return std::is_void_v<Ours> == std::is_void_v<Theirs> && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
         sizeof(Ours) == sizeof(Theirs);
}
template <typename Ours, typename Theirs>
struct SameShape : std::false_type {};
template <typename OurResult, typename TheirResult, typename... Ours, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct SameShape<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<sizeof(OurResult) == sizeof(TheirResult) && (Alike<Ours, Theirs>() && ...)> {};

TEST(CublasLtTest, TheTableIsThatOfTheToolkit) {
  struct Shapes {
    using Status = lt::Status;
    using Algorithm = lt::Algorithm;
    using HeuristicResult = lt::HeuristicResult;
#define WEFT_FIELD(field, symbol, ...) using field = __VA_ARGS__;
    WEFT_CUBLASLT_FUNCTIONS(WEFT_FIELD)
#undef WEFT_FIELD
  };
#define WEFT_SAME(field, symbol) \
  static_assert(SameShape<Shapes::field, std::remove_pointer_t<decltype(&symbol)>>::value, #symbol)
  WEFT_SAME(GetVersion, cublasLtGetVersion);
  WEFT_SAME(GetStatusName, cublasLtGetStatusName);
  WEFT_SAME(Create, cublasLtCreate);
  WEFT_SAME(Destroy, cublasLtDestroy);
  WEFT_SAME(DescCreate, cublasLtMatmulDescCreate);
  WEFT_SAME(DescDestroy, cublasLtMatmulDescDestroy);
  WEFT_SAME(DescSetAttribute, cublasLtMatmulDescSetAttribute);
  WEFT_SAME(LayoutCreate, cublasLtMatrixLayoutCreate);
  WEFT_SAME(LayoutDestroy, cublasLtMatrixLayoutDestroy);
  WEFT_SAME(LayoutSetAttribute, cublasLtMatrixLayoutSetAttribute);
  WEFT_SAME(PreferenceCreate, cublasLtMatmulPreferenceCreate);
  WEFT_SAME(PreferenceDestroy, cublasLtMatmulPreferenceDestroy);
  WEFT_SAME(PreferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute);
  WEFT_SAME(GetHeuristic, cublasLtMatmulAlgoGetHeuristic);
  WEFT_SAME(Check, cublasLtMatmulAlgoCheck);
  WEFT_SAME(Matmul, cublasLtMatmul);
}

TEST(CublasLtTest, ConstantsAndStructsAreThoseOfTheToolkit) {
  EXPECT_EQ(lt::kOk, CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(lt::kInvalid, CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(lt::kNotSupported, CUBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(lt::kFloat32, CUDA_R_32F);
  EXPECT_EQ(lt::kFloat16, CUDA_R_16F);
  EXPECT_EQ(lt::kBFloat16, CUDA_R_16BF);
  EXPECT_EQ(lt::kCompute32F, CUBLAS_COMPUTE_32F);
  EXPECT_EQ(lt::kCompute32FastTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  EXPECT_EQ(lt::kOperationN, CUBLAS_OP_N);
  EXPECT_EQ(lt::kOperationT, CUBLAS_OP_T);
  EXPECT_EQ(int{lt::kTransposeA}, int{CUBLASLT_MATMUL_DESC_TRANSA});
  EXPECT_EQ(int{lt::kTransposeB}, int{CUBLASLT_MATMUL_DESC_TRANSB});
  EXPECT_EQ(int{lt::kEpilogue}, int{CUBLASLT_MATMUL_DESC_EPILOGUE});
  EXPECT_EQ(int{lt::kBiasPointer}, int{CUBLASLT_MATMUL_DESC_BIAS_POINTER});
  EXPECT_EQ(int{lt::kAuxPointer}, int{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER});
  EXPECT_EQ(int{lt::kAuxLd}, int{CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD});
  EXPECT_EQ(int{lt::kBatchCount}, int{CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT});
  EXPECT_EQ(int{lt::kBatchStride}, int{CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET});
  EXPECT_EQ(int{lt::kMaxWorkspaceBytes}, int{CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES});
  EXPECT_EQ(int{lt::kReductionSchemes}, int{CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK});
  EXPECT_EQ(int{lt::kAlignmentA}, int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES});
  EXPECT_EQ(int{lt::kAlignmentD}, int{CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES});
  EXPECT_EQ(int{lt::kReductionComputeType}, int{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  EXPECT_EQ(int{lt::kEpilogueNone}, int{CUBLASLT_EPILOGUE_DEFAULT});
  EXPECT_EQ(int{lt::kEpilogueBias}, int{CUBLASLT_EPILOGUE_BIAS});
  EXPECT_EQ(int(lt::kEpilogueGelu | lt::kEpilogueAux | lt::kEpilogueBias), int{CUBLASLT_EPILOGUE_GELU_AUX_BIAS});
  EXPECT_EQ(int{lt::kEpilogueBiasGradientA}, int{CUBLASLT_EPILOGUE_BGRADA});
  EXPECT_EQ(int{lt::kEpilogueBiasGradientB}, int{CUBLASLT_EPILOGUE_BGRADB});
  EXPECT_EQ(sizeof(lt::Algorithm), sizeof(cublasLtMatmulAlgo_t));
  EXPECT_EQ(sizeof(lt::HeuristicResult), sizeof(cublasLtMatmulHeuristicResult_t));
  EXPECT_EQ(offsetof(lt::HeuristicResult, workspace_bytes), offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
  EXPECT_EQ(offsetof(lt::HeuristicResult, state), offsetof(cublasLtMatmulHeuristicResult_t, state));
}

// The library itself takes what we describe, as far as it can be asked without a GPU.
TEST(CublasLtTest, TheLibraryTakesOurAttributes) {
  const auto library = lt::OpenCublasLt("");
  if (absl::IsUnavailable(library.status())) GTEST_SKIP() << library.status().message();
  ASSERT_TRUE(library.ok()) << library.status();
  const lt::CublasLt& lib = **library;
  EXPECT_THAT(lib.ToString(), StartsWith("cuBLASLt 1"));
  Handle desc = nullptr, layout = nullptr, preference = nullptr;
  ASSERT_EQ(lib.DescCreate(&desc, lt::kCompute32F, lt::kFloat32), lt::kOk);
  const int32_t transposed = lt::kOperationT, count = 3;
  const uint32_t epilogue = lt::kEpilogueGelu | lt::kEpilogueAux | lt::kEpilogueBias,
                 schemes = lt::kReductionComputeType;
  const uint32_t alignment = 64;
  void* const pointer = nullptr;
  const int64_t number = 64;
  const uint64_t bytes = 1 << 20;
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kTransposeA, &transposed, 4), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kTransposeB, &transposed, 4), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kEpilogue, &epilogue, 4), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kBiasPointer, &pointer, 8), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kAuxPointer, &pointer, 8), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kAuxLd, &number, 8), lt::kOk);
  EXPECT_EQ(lib.DescSetAttribute(desc, lt::kAuxLd, &number, 4), lt::kInvalid);
  ASSERT_EQ(lib.LayoutCreate(&layout, lt::kBFloat16, 64, 8, 64), lt::kOk);
  EXPECT_EQ(lib.LayoutSetAttribute(layout, lt::kBatchCount, &count, 4), lt::kOk);
  EXPECT_EQ(lib.LayoutSetAttribute(layout, lt::kBatchStride, &number, 8), lt::kOk);
  ASSERT_EQ(lib.PreferenceCreate(&preference), lt::kOk);
  EXPECT_EQ(lib.PreferenceSetAttribute(preference, lt::kMaxWorkspaceBytes, &bytes, 8), lt::kOk);
  EXPECT_EQ(lib.PreferenceSetAttribute(preference, lt::kReductionSchemes, &schemes, 4), lt::kOk);
  EXPECT_EQ(lib.PreferenceSetAttribute(preference, lt::kAlignmentD, &alignment, 4), lt::kOk);
  EXPECT_EQ(lib.DescDestroy(desc), lt::kOk);
  EXPECT_EQ(lib.LayoutDestroy(layout), lt::kOk);
  EXPECT_EQ(lib.PreferenceDestroy(preference), lt::kOk);
}

#endif  // HAVE_CUDA

}  // namespace
}  // namespace weft::cuda
