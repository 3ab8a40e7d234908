// The common shape of a GPU kernel's host side: everything but addresses is known
// when it is created, and Run() is one launch.
#ifndef WEFT_OPS_ABI_GPU_LAUNCH_H_
#define WEFT_OPS_ABI_GPU_LAUNCH_H_

#include <memory>
#include <string>

#include "ops/abi/gpu.h"
#include "ops/abi/kernel.h"

namespace weft {

using GpuInputs = absl::Span<const void* const>;
using GpuOutputs = absl::Span<void* const>;

// Enough blocks of `threads` for `items`, one a thread, but not more than keep
// the GPU busy: kernels go over their items in a loop (gpu::EachOf).
inline GpuGrid LoopGrid(const Gpu& gpu, int64_t items, uint32_t threads) {
  GpuGrid grid = GridFor(items, threads);
  const auto most = static_cast<uint32_t>(gpu.properties().multiprocessors) * 16;
  if (grid.blocks[0] > most) grid.blocks[0] = most;
  return grid;
}

// A Kernel that launches `module`.`name`. `bind` puts what an act brings into a
// copy of `arguments`: addresses, and what depends on the micro-batch.
//
//   return MakeGpuLaunch(spec, "softmax", "softmax_f32", grid, arguments,
//                        [](SoftmaxArguments& a, const RunContext&, GpuInputs in, GpuOutputs out) {
//                          a.x = in[0];
//                          a.y = out[0];
//                        });
template <typename Arguments, typename Bind>
absl::StatusOr<std::unique_ptr<Kernel>> MakeGpuLaunch(const KernelSpec& spec, const std::string& module,
                                                      const std::string& name, const GpuGrid& grid,
                                                      const Arguments& arguments, Bind bind) {
  class Launch : public Kernel {
   public:
    Launch(GpuKernel<Arguments> kernel, const GpuGrid& grid, const Arguments& arguments, Bind bind)
        : kernel_(kernel), grid_(grid), arguments_(arguments), bind_(std::move(bind)) {}
    absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
      Arguments arguments = arguments_;
      bind_(arguments, context, inputs, outputs);
      return kernel_.Launch(grid_, arguments, context.stream);
    }

   private:
    const GpuKernel<Arguments> kernel_;
    const GpuGrid grid_;
    const Arguments arguments_;
    const Bind bind_;
  };
  WEFT_ASSIGN_OR_RETURN(auto kernel, GpuKernel<Arguments>::Find(spec.gpu, module, name, grid.shared_bytes));
  return std::make_unique<Launch>(kernel, grid, arguments, std::move(bind));
}

}  // namespace weft

#endif  // WEFT_OPS_ABI_GPU_LAUNCH_H_
