// GPU kernels of take, scatter_add and scatter_set, for the types of cpu.cc and to the same bits. An id outside the
// table raises an alarm.
#include <optional>

#include "absl/strings/str_cat.h"
#include "ops/abi/gpu_launch.h"
#include "ops/abi/match_spec.h"
#include "ops/families.h"
#include "ops/gather/cuda_arguments.h"
#include "ops/gather/problem.h"

namespace weft {
namespace {

using gather::GatherArguments;
using gather::GatherProblem;
using gather::kThreads;

// What comes before the rows are moved.
enum class Links { kNone, kChains, kLast };

// One launch, or two on one stream: the links, then the rows.
class GatherKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Create(const KernelSpec& spec, const GatherProblem& problem,
                                                        const std::string& name, Links links) {
    auto made = std::make_unique<GatherKernel>();
    WEFT_ASSIGN_OR_RETURN(made->rows_, Find(spec, name));
    made->rows_grid_ = LoopGrid(*spec.gpu, spec.outputs[0].elements(), kThreads);
    const int64_t rows = problem.rows_of_all(), positions = problem.positions_of_all();
    if (links != Links::kNone) {
      WEFT_ASSIGN_OR_RETURN(made->links_, Find(spec, "links"));
      made->links_grid_ = LoopGrid(*spec.gpu, rows + positions, kThreads);
      made->workspace_ = spec.gpu_workspace;
      made->next_ = links == Links::kChains ? rows : 0;
      WEFT_RETURN_IF_ERROR(made->workspace_->Reserve(
          spec.gpu, static_cast<size_t>(rows + (links == Links::kChains ? positions : 0)) * sizeof(int32_t)));
    }
    WEFT_ASSIGN_OR_RETURN(
        made->alarm_, spec.gpu->CreateAlarm([size = problem.size, name = spec.name](const GpuAlarm& it) {
          return absl::OutOfRangeError(
              absl::StrCat(name, ": id of position ", it.where, ": expected 0 to ", size - 1, ", got ", it.value));
        }));
    made->arguments_ = {.batch = problem.batch,
                        .outer = problem.outer,
                        .positions = problem.positions,
                        .inner = problem.inner,
                        .size = problem.size,
                        .begin = problem.begin,
                        .count = problem.count,
                        .wide_ids = problem.wide_ids,
                        .alarm = made->alarm_.get()};
    return made;
  }

  absl::Status Run(const RunContext& context, GpuInputs inputs, GpuOutputs outputs) override {
    GatherArguments arguments = arguments_;
    arguments.x = inputs[0];
    arguments.ids = inputs[1];
    if (inputs.size() > 2) arguments.updates = inputs[2];
    arguments.y = outputs[0];
    if (links_.has_value()) {
      arguments.first = workspace_->data<int32_t>();
      if (next_ > 0) arguments.next = arguments.first + next_;
      WEFT_RETURN_IF_ERROR(links_->Launch(links_grid_, arguments, context.stream));
    }
    return rows_->Launch(rows_grid_, arguments, context.stream);
  }

 private:
  static absl::StatusOr<GpuKernel<GatherArguments>> Find(const KernelSpec& spec, const std::string& name) {
    return GpuKernel<GatherArguments>::Find(spec.gpu, "gather", name);
  }

  std::optional<GpuKernel<GatherArguments>> links_, rows_;
  GpuGrid links_grid_, rows_grid_;
  GatherArguments arguments_ = {};
  std::shared_ptr<GpuWorkspace> workspace_;
  int64_t next_ = 0;  // where the chains go on; 0: there are none
  std::shared_ptr<GpuAlarm> alarm_;
};

absl::StatusOr<std::unique_ptr<Kernel>> CreateTake(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  WEFT_ASSIGN_OR_RETURN(GatherProblem problem,
                        gather::MakeProblem(spec, spec.inputs[0], spec.inputs[1], spec.outputs[0]));
  const bool last = spec.attributes.Has("last");
  if (last) WEFT_RETURN_IF_ERROR(gather::CheckWholePositions(spec, spec.inputs[1]));
  return GatherKernel::Create(spec, problem, absl::StrCat("take_", SizeOf(problem.type)),
                              last ? Links::kLast : Links::kNone);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateScatterAdd(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 2, 1));
  WEFT_ASSIGN_OR_RETURN(GatherProblem problem,
                        gather::MakeProblem(spec, spec.outputs[0], spec.inputs[1], spec.inputs[0]));
  return GatherKernel::Create(spec, problem, absl::StrCat("scatter_add_", NameOf(problem.type)), Links::kChains);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateScatterSet(const KernelSpec& spec) {
  WEFT_RETURN_IF_ERROR(CheckArity(spec, 3, 1));
  WEFT_ASSIGN_OR_RETURN(GatherProblem problem,
                        gather::MakeProblem(spec, spec.inputs[0], spec.inputs[1], spec.inputs[2]));
  WEFT_RETURN_IF_ERROR(gather::CheckWholePositions(spec, spec.inputs[1]));
  return GatherKernel::Create(spec, problem, absl::StrCat("scatter_set_", SizeOf(problem.type)), Links::kLast);
}

}  // namespace

void RegisterGatherCudaKernels(KernelRegistry& registry) {
  registry.Register("take", &CreateTake);
  registry.Register("scatter_add", &CreateScatterAdd);
  registry.Register("scatter_set", &CreateScatterSet);
}

}  // namespace weft
