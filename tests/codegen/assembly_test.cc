// The PTX of whole plans, given to NVIDIA's assembler where a toolkit is installed: it is accepted for each generation
// of GPUs, and no kernel spills registers or has local memory.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/support/trainer.h"

namespace weft::tests {
namespace {

struct Model {
  const char* job;
  std::vector<std::string> overrides;
};

// The standard output and error of a command; its status.
std::pair<std::string, int> OutputOf(const std::string& command) {
  std::string text;
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {"cannot be started", -1};
  char buffer[4096];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, count);
  return {text, pclose(pipe)};
}

std::string Assembler() {
  for (const std::string path : {"ptxas", "/usr/local/cuda/bin/ptxas"}) {
    if (OutputOf(path + " --version").second == 0) return path;
  }
  return "";
}

const Model kModels[] = {
    {"models/gpt2/124m.job", {}},
    {"models/gpt2/124m.job", {"precision.compute=BF16", "model.set=dropout=0.0"}},
    {"models/gpt2/124m.job", {"precision={compute: F16 loss_scale { initial: 64 }}"}},
    {"models/gpt2/1.5b.job", {"dist.data=8", "dist.tensor=8", "precision.compute=BF16"}},
    {"models/llama/8b.job", {"dist.data=8", "dist.tensor=8", "precision.compute=BF16"}},
    {"models/mixtral/tiny.job", {"precision.compute=BF16"}},
    {"models/swin/tiny.job", {"precision.compute=BF16"}},
    {"models/convnext/tiny.job", {}},
    {"models/t5/tiny.job", {"precision.compute=BF16"}},
    {"models/bert/tiny.job", {}},
};

TEST(AssemblyTest, NoKernelSpills) {
  const std::string assembler = Assembler();
  if (assembler.empty()) GTEST_SKIP() << "no ptxas";
  const std::string folder = testing::TempDir(), text = folder + "/kernels.ptx";
  for (const Model& model : kModels) {
    SCOPED_TRACE(absl::StrCat(model.job, " ", model.overrides.empty() ? "" : model.overrides.back()));
    const auto plan = CompileJob(model.job, model.overrides, "clusters/8xh200.cluster");
    ASSERT_TRUE(plan.ok()) << plan.status();
    ASSERT_GT(plan->code().symbols_size(), 0);
    std::ofstream(text) << plan->code().object();
    for (const char* generation : {"sm_80", "sm_90", "sm_100"}) {
      const auto [said, status] =
          OutputOf(absl::StrCat(assembler, " -v -arch=", generation, " -o ", folder, "/kernels.cubin ", text));
      ASSERT_EQ(status, 0) << said;
      size_t kernels = 0;
      for (size_t at = 0; (at = said.find("bytes stack frame", at)) != std::string::npos; ++at) {
        const size_t line = said.rfind('\n', at) + 1;
        const std::string sizes = said.substr(line, said.find('\n', at) - line);
        EXPECT_NE(sizes.find(" 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), std::string::npos)
            << generation << ": " << sizes;
        ++kernels;
      }
      EXPECT_GE(kernels, static_cast<size_t>(plan->code().symbols_size())) << said;
    }
  }
}

}  // namespace
}  // namespace weft::tests
