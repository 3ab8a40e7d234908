// Generated kernels for GPUs, in tests: their PTX is carried out on the host.
#ifndef WEFT_TESTS_CODEGEN_GPU_H_
#define WEFT_TESTS_CODEGEN_GPU_H_

#include <memory>
#include <string>
#include <vector>

#include "compiler/codegen/blocks.h"
#include "compiler/codegen/ptx.h"
#include "gtest/gtest.h"
#include "runtime/code/levels.h"
#include "tests/codegen/reference.h"
#include "tests/emulation/ptx/ptx.h"

namespace weft::compiler {

class GpuCode {
 public:
  explicit GpuCode(llvm::ArrayRef<cell::KernelOp> kernels) {
    absl::StatusOr<std::string> text = gpuCodeOf(kernels);
    EXPECT_TRUE(text.ok()) << text.status();
    absl::StatusOr<std::unique_ptr<EmulatedModule>> module = ptx::Parse("generated", *text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (module.ok()) module_ = *std::move(module);
  }

  // Runs a kernel on the addresses of its inputs and outputs. `order` is that of warps.
  void run(cell::KernelOp kernel, const std::vector<void*>& operands, const std::vector<Draw>& draws, uint64_t order) {
    const Loops loops = *loopsOf(kernel);
    const Blocks blocks = blocksOf(kernel, loops);
    std::vector<float> partials(size_t(blocks.blocks(loops) * blocks.partials(loops)), NAN);
    std::vector<int64_t> words;
    for (void* address : operands) words.push_back(int64_t(address));
    if (loops.sums > 0) words.push_back(int64_t(partials.data()));
    std::vector<double> events;
    for (const Draw& draw : draws) events.push_back(double(draw.event));
    for (size_t i = 0; i < draws.size(); ++i) {
      words.insert(words.end(), {int64_t(draws[i].key), int64_t(&events[i]), draws[i].first});
    }
    const std::string symbol = kernel.getSymName().str();
    launch(symbol, blocks.blocks(loops), words, order);
    if (loops.sums > 0) launch(symbol + code::kSums, blocks.sumBlocks(loops), words, order);
  }

 private:
  void launch(const std::string& symbol, int64_t blocks, const std::vector<int64_t>& words, uint64_t order) {
    ASSERT_NE(module_, nullptr);
    for (const EmulatedKernel* kernel : module_->kernels) {
      if (kernel->name != symbol) continue;
      ASSERT_EQ(kernel->argument_bytes, 8 * words.size());
      const GpuGrid grid{{uint32_t(blocks), 1, 1}, {code::kGpuThreads, 1, 1}, 0};
      const absl::Status status = kernel->run(*kernel, grid, words.data(), order);
      ASSERT_TRUE(status.ok()) << status;
      return;
    }
    FAIL() << "no kernel " << symbol;
  }

  std::unique_ptr<EmulatedModule> module_;
};

}  // namespace weft::compiler

#endif  // WEFT_TESTS_CODEGEN_GPU_H_
