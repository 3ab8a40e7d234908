// Rates of the CPU kernels at the shapes of GPT-2 124M (batch 4, sequence 256),
// beside the best rate of a plain 2048^3 product in the same run.
//
//   kernels [THREADS...]      (1 and 2 without arguments)
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ops/abi/kernel.h"
#include "ops/abi/registry.h"
#include "ops/abi/scratch.h"
#include "ops/families.h"
#include "tests/support/generated.h"

namespace weft {
namespace {

constexpr int64_t kBatch = 4, kSequence = 256, kHidden = 768, kHeads = 12, kDepth = 64, kVocabulary = 50304;

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A kernel with operands of its own.
class Case {
 public:
  Case(const KernelRegistry& registry, const KernelSpec& spec) {
    absl::StatusOr<std::unique_ptr<Kernel>> kernel = registry.Create(spec);
    if (!kernel.ok()) {
      std::fprintf(stderr, "%s\n", std::string(kernel.status().message()).c_str());
      std::exit(1);
    }
    kernel_ = *std::move(kernel);
    for (const TensorSpec& tensor : spec.inputs) inputs_.push_back(Memory(tensor));
    for (const TensorSpec& tensor : spec.outputs) outputs_.push_back(Memory(tensor));
    Run();
  }

  // The shortest of several runs, in seconds.
  double Best() {
    double best = INFINITY;
    const double end = Seconds() + 0.4;
    for (int i = 0; i < 5 || (Seconds() < end && i < 1000); ++i) best = std::min(best, Run());
    return best;
  }

 private:
  void* Memory(const TensorSpec& tensor) {
    memory_.emplace_back(tensor.bytes());
    const int64_t n = tensor.elements();
    for (int64_t i = 0; i < n; ++i) {
      const float value = static_cast<float>(i * 2654435761u % 2048) / 1024.0f - 1.0f;
      if (tensor.dtype == DType::kF32) reinterpret_cast<float*>(memory_.back().data())[i] = value;
      if (tensor.dtype == DType::kBF16) reinterpret_cast<BFloat16*>(memory_.back().data())[i] = ToBFloat16(value);
    }
    return memory_.back().data();
  }

  double Run() {
    const double start = Seconds();
    const absl::Status status = kernel_->Run({}, inputs_, absl::MakeSpan(outputs_));
    const double taken = Seconds() - start;
    if (!status.ok()) std::exit(1);
    return taken;
  }

  std::unique_ptr<Kernel> kernel_;
  std::vector<Scratch<char>> memory_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

KernelSpec Spec(const char* name, std::vector<TensorSpec> inputs, std::vector<TensorSpec> outputs,
                Attributes attributes, int threads) {
  KernelSpec spec;
  spec.name = name;
  spec.inputs = std::move(inputs);
  spec.outputs = std::move(outputs);
  spec.attributes = std::move(attributes);
  spec.threads = threads;
  return spec;
}

int64_t ExtentOf(char letter) {
  switch (letter) {
    case 'b':
      return kBatch;
    case 's':
      return kSequence;
    case 'h':
      return kHidden;
    case 'k':
      return 3;
    case 'n':
      return kHeads;
    case 'd':
      return kDepth;
    case 'm':
      return 4 * kHidden;
    case 'v':
      return kVocabulary;
    default:
      return 2048;
  }
}

KernelSpec EinsumSpec(const std::string& equation, DType operands, int threads, double* operations) {
  std::vector<TensorSpec> tensors(1, {operands});
  std::string seen;
  *operations = 2;
  for (char letter : equation) {
    if (letter == '>') continue;
    if (letter == ',' || letter == '-') {
      tensors.push_back({letter == '-' ? DType::kF32 : operands});
      continue;
    }
    tensors.back().dims.push_back(ExtentOf(letter));
    if (seen.find(letter) != std::string::npos) continue;
    seen += letter;
    *operations *= static_cast<double>(ExtentOf(letter));
  }
  for (TensorSpec& tensor : tensors) tensor = TensorSpec::Whole(tensor.dtype, tensor.dims);
  return Spec("einsum", {tensors[0], tensors[1]}, {tensors[2]}, {{"equation", equation}}, threads);
}

double EinsumRate(const KernelRegistry& registry, const char* equation, DType operands, int threads) {
  double operations;
  const KernelSpec spec = EinsumSpec(equation, operands, threads, &operations);
  return operations / Case(registry, spec).Best() / 1e9;
}

void Line(const char* name, double rate, const char* unit, double share) {
  std::printf("  %-34s %8.1f %s", name, rate, unit);
  if (share > 0) std::printf("  %5.1f %% of the 2048^3 product", 100 * share);
  std::printf("\n");
}

void BenchEinsum(const KernelRegistry& registry, int threads, double best) {
  for (const char* equation :
       {"bsh,hknd->bsknd", "bsnd,ndh->bsh", "bsh,hm->bsm", "bsm,mh->bsh", "bsh,vh->bsv", "bsknd,hknd->bsh",
        "bsh,bsknd->hknd", "bsm,hm->bsh", "bsh,bsm->hm", "bsh,mh->bsm", "bsm,bsh->mh", "bsv,vh->bsh", "bsv,bsh->vh"}) {
    const double rate = EinsumRate(registry, equation, DType::kF32, threads);
    Line(equation, rate, "GFLOP/s", rate / best);
  }
  Line("bf16 bsh,hm->bsm", EinsumRate(registry, "bsh,hm->bsm", DType::kBF16, threads), "GFLOP/s", 0);
}

// Counts the products that the causal mask leaves: two forward, five backward.
void BenchAttention(const KernelRegistry& registry, int threads, double best) {
  const TensorSpec x = TensorSpec::Whole(DType::kF32, {kBatch, kSequence, kHeads, kDepth});
  const TensorSpec lse = TensorSpec::Whole(DType::kF32, {kBatch, kHeads, kSequence});
  for (int64_t causal : {1, 0}) {
    const Attributes attributes = {{"causal", causal}, {"scale", 0.125}};
    const double pairs = causal ? 0.5 * kSequence * (kSequence + 1) : 1.0 * kSequence * kSequence;
    const double product = 2.0 * kBatch * kHeads * pairs * kDepth;
    const double forward =
        2 * product / Case(registry, Spec("attention", {x, x, x}, {x, lse}, attributes, threads)).Best() / 1e9;
    Line(causal ? "attention, causal" : "attention", forward, "GFLOP/s", forward / best);
    const double backward =
        5 * product /
        Case(registry, Spec("attention_grad", {x, x, x, x, x, lse}, {x, x, x}, attributes, threads)).Best() / 1e9;
    Line(causal ? "attention_grad, causal" : "attention_grad", backward, "GFLOP/s", backward / best);
  }
}

// Bytes that generated kernels read and write once, per second.
void BenchRows(const KernelRegistry& registry, int threads) {
  auto line = [&](const std::string& what, const KernelSpec& spec) {
    double bytes = 0;
    for (const TensorSpec& tensor : spec.inputs) bytes += static_cast<double>(tensor.bytes());
    for (const TensorSpec& tensor : spec.outputs) bytes += static_cast<double>(tensor.bytes());
    Line((spec.name + " " + what).c_str(), bytes / Case(registry, spec).Best() / 1e9, "GB/s", 0);
  };
  for (DType type : {DType::kF32, DType::kBF16}) {
    const std::string of(NameOf(type));
    const auto whole = [&](std::vector<int64_t> dims) { return TensorSpec::Whole(type, std::move(dims)); };
    const TensorSpec x = whole({kBatch * kSequence, kHidden}), wide = whole({kBatch * kSequence, 4 * kHidden});
    const TensorSpec w = whole({kHidden}), row = TensorSpec::Whole(DType::kF32, {kBatch * kSequence});
    line(of, Spec("relu", {wide}, {wide}, {}, threads));
    for (const char* formula : {"tanh", "none"}) {
      const Attributes attributes = {{"approximate", std::string(formula)}};
      line(formula + (" " + of), Spec("gelu", {wide}, {wide}, attributes, threads));
      line(formula + (" " + of), Spec("gelu_grad", {wide, wide}, {wide}, attributes, threads));
    }
    line(of, Spec("dropout", {x}, {x}, {{"rate", 0.1}, {"seed", int64_t{7}}}, threads));
    line(of, Spec("layer_norm", {x, w, w}, {x, row, row}, {{"eps", 1e-5}}, threads));
    line(of, Spec("layer_norm_grad", {x, x, w, row, row}, {x, w, w}, {}, threads));
    line(of, Spec("rms_norm", {x, w}, {x, row}, {{"eps", 1e-5}}, threads));
    line(of, Spec("rms_norm_grad", {x, x, w, row}, {x, w}, {}, threads));
  }
  // Attention's, and routers of mixtures of 8 experts.
  for (int64_t n : {int64_t{8}, kSequence, kVocabulary}) {
    const TensorSpec x = TensorSpec::Whole(DType::kF32, {(1 << 20) / n + 1, n});
    line(std::to_string(n), Spec("softmax", {x}, {x}, {}, threads));
    line(std::to_string(n), Spec("softmax_grad", {x, x}, {x}, {}, threads));
  }
}

void Bench(const KernelRegistry& registry, int threads) {
  std::printf("%d thread%s\n", threads, threads == 1 ? "" : "s");
  double best = 0;
  for (int i = 0; i < 3; ++i) best = std::max(best, EinsumRate(registry, "xy,yz->xz", DType::kF32, threads));
  Line("2048^3 product", best, "GFLOP/s", 0);
  BenchEinsum(registry, threads, best);
  BenchAttention(registry, threads, best);
  BenchRows(registry, threads);
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  weft::KernelRegistry registry;
  weft::RegisterEinsumKernels(registry);
  weft::RegisterAttentionKernels(registry);
  weft::testing::RegisterGeneratedKernels(registry);
  if (argc == 1) {
    weft::Bench(registry, 1);
    weft::Bench(registry, 2);
  }
  for (int i = 1; i < argc; ++i) {
    const int threads = std::atoi(argv[i]);
    if (threads < 1) {
      std::fprintf(stderr, "threads: expected a positive number, got `%s`\n", argv[i]);
      return 2;
    }
    weft::Bench(registry, threads);
  }
  return 0;
}
