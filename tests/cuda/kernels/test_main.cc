// weft-gpu-kernels: the tests of all GPU kernels on a GPU, as `weft-run` would open it.
#include <cstdio>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cuda/kernels/gpu.h"
#include "tests/emulation/simt/gpu_testing.h"

namespace {

constexpr char kHelp[] = R"(weft-gpu-kernels: every GPU kernel beside its CPU twin, on GPU 0

usage: weft-gpu-kernels [--cuda-libs FOLDER] [--own-kernels] [--own-attention]
                        [--gtest_filter=PATTERN] [--gtest_output=json:FILE]

  --cuda-libs FOLDER  where cuBLASLt, cuDNN and NCCL are; else where weft-run looks
  --own-kernels       matrix products and attention by our own kernels, not by cuBLASLt and cuDNN
  --own-attention     only attention by our own kernels

exit status: 0 all tests passed, 1 some failed, 2 wrong flag, 3 no driver or no GPU
)";

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  weft::tests::TestGpu::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--cuda-libs" && i + 1 < argc) {
      options.libraries = argv[++i];
    } else if (argument == "--own-kernels") {
      options.cublaslt = options.cudnn = false;
    } else if (argument == "--own-attention") {
      options.cudnn = false;
    } else {
      std::fputs(kHelp, argument == "--help" ? stdout : stderr);
      return argument == "--help" ? 0 : 2;
    }
  }
  auto gpu = weft::tests::TestGpu::Open(options);
  if (!gpu.ok()) {
    std::fprintf(stderr, "weft-gpu-kernels: %s\n", std::string(gpu.status().message()).c_str());
    return 3;
  }
  std::printf("%s\n", (*gpu)->found().c_str());
  weft::tests::TestGpu::Set(*std::move(gpu));
  weft::testing::SetGpuRunner([](const auto&... it) { return weft::tests::TestGpu::Get().Run(it...); });
  const int failed = RUN_ALL_TESTS();
  weft::tests::TestGpu::Set(nullptr);
  return failed;
}
