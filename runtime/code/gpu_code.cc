#include "runtime/code/gpu_code.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/gpu.h"
#include "ops/abi/status_macros.h"
#include "ops/abi/step_values.h"
#include "runtime/code/levels.h"

namespace weft::code {
namespace {

struct Handles {
  void* kernel = nullptr;
  void* sums = nullptr;
};

class GeneratedKernel : public Kernel {
 public:
  GeneratedKernel(Gpu* gpu, Handles handles, const plan::Kernel& kernel, std::shared_ptr<GpuWorkspace> partials,
                  std::vector<Draw> draws, const double* step, size_t words)
      : gpu_(gpu),
        handles_(handles),
        grid_{{static_cast<uint32_t>(kernel.units()), 1, 1}, {kGpuThreads, 1, 1}, 0},
        sums_{{static_cast<uint32_t>(kernel.groups()), 1, 1}, {kGpuThreads, 1, 1}, 0},
        partials_(std::move(partials)),
        draws_(std::move(draws)),
        step_(step),
        words_(words) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    uint64_t* word = words_.data();
    for (const void* input : inputs) *word++ = reinterpret_cast<uint64_t>(input);
    for (void* output : outputs) *word++ = reinterpret_cast<uint64_t>(output);
    if (partials_ != nullptr) *word++ = reinterpret_cast<uint64_t>(partials_->data<float>());
    for (const Draw& draw : draws_) {
      *word++ = draw.KeyFor(context);
      *word++ = reinterpret_cast<uint64_t>(step_);
      *word++ = static_cast<uint64_t>(draw.FirstFor(context));
    }
    WEFT_RETURN_IF_ERROR(gpu_->Launch(handles_.kernel, grid_, words_.data(), context.stream));
    return handles_.sums == nullptr ? absl::OkStatus()
                                    : gpu_->Launch(handles_.sums, sums_, words_.data(), context.stream);
  }

 private:
  Gpu* const gpu_;
  const Handles handles_;
  const GpuGrid grid_, sums_;
  const std::shared_ptr<GpuWorkspace> partials_;
  const std::vector<Draw> draws_;
  const double* const step_;
  std::vector<uint64_t> words_;
};

// A kernel for several tensors: as many in each launch as its argument holds.
class BatchKernel : public Kernel {
 public:
  BatchKernel(Gpu* gpu, void* handle, int64_t places, Segments segments)
      : gpu_(gpu), handle_(handle), places_(places), segments_(std::move(segments)), words_(kGpuBatchWords) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    for (size_t i = 0; i < segments_.shared; ++i) words_[1 + i] = reinterpret_cast<uint64_t>(inputs[i]);
    const size_t most = (words_.size() - 1 - segments_.shared) / (2 + segments_.inputs + segments_.outputs);
    for (size_t first = 0; first < segments_.elements.size(); first += most) {
      const size_t end = std::min(first + most, segments_.elements.size());
      uint64_t* word = words_.data() + 1 + segments_.shared;
      uint64_t blocks = 0;
      for (size_t segment = first; segment < end; ++segment) {
        *word++ = blocks;
        *word++ = static_cast<uint64_t>(segments_.elements[segment]);
        const size_t input = segments_.shared + segment * segments_.inputs, output = segment * segments_.outputs;
        for (size_t i = 0; i < segments_.inputs; ++i) *word++ = reinterpret_cast<uint64_t>(inputs[input + i]);
        for (size_t i = 0; i < segments_.outputs; ++i) *word++ = reinterpret_cast<uint64_t>(outputs[output + i]);
        blocks += static_cast<uint64_t>((segments_.elements[segment] + places_ - 1) / places_);
      }
      words_[0] = end - first;
      const GpuGrid grid{{static_cast<uint32_t>(blocks), 1, 1}, {kGpuThreads, 1, 1}, 0};
      WEFT_RETURN_IF_ERROR(gpu_->Launch(handle_, grid, words_.data(), context.stream));
    }
    return absl::OkStatus();
  }

 private:
  Gpu* const gpu_;
  void* const handle_;
  const int64_t places_;  // of a block
  const Segments segments_;
  std::vector<uint64_t> words_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const GpuCode>> GpuCode::Load(const plan::Code& code) {
  const std::string& text = code.object();
  if (!absl::StrContains(text, ".version") || !absl::EndsWith(absl::StripTrailingAsciiWhitespace(text), "}")) {
    return absl::InvalidArgumentError(
        absl::StrCat("generated kernels: expected PTX, as a whole, got ", text.size(), " other bytes"));
  }
  for (const std::string& symbol : code.symbols()) {
    if (!absl::StrContains(text, absl::StrCat(".entry ", symbol, "("))) {
      return absl::InvalidArgumentError(
          absl::StrCat("generated kernels: expected a kernel `", symbol, "`, there is none"));
    }
  }
  return std::shared_ptr<const GpuCode>(new GpuCode(absl::StrCat("generated ", std::hash<std::string>()(text)), text));
}

absl::StatusOr<std::unique_ptr<Kernel>> GpuCode::Make(const plan::Kernel& kernel,
                                                      const std::vector<RandomTile>& randoms,
                                                      const KernelSpec& spec) const {
  if (spec.gpu == nullptr) {
    return absl::FailedPreconditionError(
        "generated kernels: expected a GPU, as the plan has code for one, got a host device");
  }
  WEFT_RETURN_IF_ERROR(spec.gpu->Add(module_, text_));
  if (kernel.segments() > 0) {
    WEFT_ASSIGN_OR_RETURN(Segments segments, Segments::Of(kernel, spec));
    WEFT_ASSIGN_OR_RETURN(void* handle, spec.gpu->Find(module_, kernel.symbol(), kGpuBatchWords * sizeof(uint64_t), 0));
    return std::make_unique<BatchKernel>(spec.gpu, handle, kernel.units(), std::move(segments));
  }
  std::vector<Draw> draws(randoms.begin(), randoms.end());
  const double* step = nullptr;
  if (!draws.empty()) {
    WEFT_ASSIGN_OR_RETURN(step, AddStepNumber(spec));
  }
  const size_t words = spec.inputs.size() + spec.outputs.size() + (kernel.partials() > 0) + 3 * draws.size();
  const size_t bytes = words * sizeof(uint64_t);
  Handles handles;
  WEFT_ASSIGN_OR_RETURN(handles.kernel, spec.gpu->Find(module_, kernel.symbol(), bytes, 0));
  std::shared_ptr<GpuWorkspace> partials;
  if (kernel.partials() > 0) {
    WEFT_ASSIGN_OR_RETURN(handles.sums, spec.gpu->Find(module_, absl::StrCat(kernel.symbol(), kSums), bytes, 0));
    partials = spec.gpu_workspace;
    WEFT_RETURN_IF_ERROR(
        partials->Reserve(spec.gpu, static_cast<size_t>(kernel.units() * kernel.partials()) * sizeof(float)));
  }
  return std::make_unique<GeneratedKernel>(spec.gpu, handles, kernel, std::move(partials), std::move(draws), step,
                                           words);
}

}  // namespace weft::code
