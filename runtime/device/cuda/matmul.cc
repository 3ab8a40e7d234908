#include "runtime/device/cuda/matmul.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/algorithms.h"
#include "runtime/device/cuda/matmul_problem.h"
#include "runtime/device/cuda/matmul_timing.h"

namespace weft::device {
namespace {

using cuda::Handle;
using cuda::lt::HeuristicResult;

// "product of bf16[8192,768] by [768,3072], 1 of them, bias gelu keep".
std::string Describe(const GpuMatmulSpec& spec) {
  std::string text = absl::StrCat("product of ", NameOf(spec.left.type), "[", spec.rows, ",", spec.inner, "] by [",
                                  spec.inner, ",", spec.columns, "], ", spec.batch, " of them");
  const std::pair<bool, const char*> words[] = {
      {spec.bias, "bias"}, {spec.gelu, "gelu"}, {spec.keep, "keep"}, {spec.bias_gradient, "sums of an operand"}};
  const char* before = ", ";
  for (const auto& [asked, word] : words) {
    if (asked) absl::StrAppend(&text, std::exchange(before, " "), word);
  }
  return text;
}

class CublasLtMatmul : public GpuMatmul {
 public:
  CublasLtMatmul(Handle handle, MatmulProblem problem, const HeuristicResult& choice)
      : handle_(handle), problem_(std::move(problem)), choice_(choice) {}
  size_t workspace_bytes() const override { return choice_.workspace_bytes; }
  absl::Status Run(const GpuMatmulAddresses& addresses, void* workspace, void* stream) override {
    return problem_.Enqueue(handle_, choice_, addresses, workspace, stream);
  }

 private:
  const Handle handle_;
  const MatmulProblem problem_;
  const HeuristicResult choice_;
};

class CublasLtMatmuls : public GpuMatmuls {
 public:
  CublasLtMatmuls(const CudaContext& context, const cuda::lt::CublasLt& library, MatmulOptions options, Handle handle,
                  std::string machine)
      : context_(context),
        library_(library),
        options_(std::move(options)),
        handle_(handle),
        machine_(std::move(machine)),
        file_(options_.time_algorithms ? options_.algorithm_file : "") {
    Note(file_.status());
  }
  ~CublasLtMatmuls() override {
    context_.Enter().IgnoreError();
    library_.Destroy(handle_);
  }

  absl::StatusOr<std::unique_ptr<GpuMatmul>> Create(const GpuMatmulSpec& spec) override {
    if (absl::Status status = context_.Enter(); !status.ok()) return status;
    absl::StatusOr<MatmulProblem> problem = MatmulProblem::Create(library_, spec);
    // One at a time: timings would disturb each other.
    std::lock_guard<std::mutex> lock(mutex_);
    const absl::StatusOr<HeuristicResult> choice =
        problem.ok() ? Choose(*problem) : absl::StatusOr<HeuristicResult>(problem.status());
    if (!choice.ok()) {
      TellRefusal(spec, choice.status());
      return choice.status();
    }
    return std::make_unique<CublasLtMatmul>(handle_, *std::move(problem), *choice);
  }

 private:
  // Once a spec.
  void TellRefusal(const GpuMatmulSpec& spec, const absl::Status& why) {
    if (!absl::IsUnimplemented(why)) return;
    if (const std::string text = Describe(spec); refused_.insert(text).second) {
      Note(absl::UnimplementedError(absl::StrCat(text, ": not by cuBLASLt: ", std::string(why.message()))));
    }
  }

  void Note(const absl::Status& status) const {
    if (!status.ok() && options_.note) options_.note(std::string(status.message()));
  }

  // What an earlier run has kept, if it still fits.
  std::optional<HeuristicResult> Kept(const MatmulProblem& problem, const std::string& key) const {
    const std::optional<cuda::lt::Algorithm> kept = file_.Find(key);
    if (!kept.has_value()) return std::nullopt;
    const absl::StatusOr<HeuristicResult> checked = problem.Check(handle_, *kept);
    if (!checked.ok() || checked->workspace_bytes > options_.workspace_bytes) return std::nullopt;
    return *checked;
  }

  absl::StatusOr<HeuristicResult> Choose(const MatmulProblem& problem) {
    if (const auto found = chosen_.find(problem.key()); found != chosen_.end()) return found->second;
    const std::string key = absl::StrCat(machine_, " | ", problem.key());
    absl::StatusOr<HeuristicResult> choice = absl::UnimplementedError("nothing is kept");
    if (const auto kept = Kept(problem, key)) choice = Take(problem, {*kept}, &FirstOf, "");
    if (absl::IsUnimplemented(choice.status())) {
      const absl::StatusOr<std::vector<HeuristicResult>> candidates =
          problem.Candidates(handle_, options_.workspace_bytes, options_.candidates);
      if (!candidates.ok()) return candidates.status();
      const bool timed = options_.time_algorithms && candidates->size() > 1;
      choice = timed ? Take(problem, *candidates, &FastestOf, key) : Take(problem, *candidates, &FirstOf, "");
    }
    if (choice.ok()) chosen_[problem.key()] = *choice;
    return choice;
  }

  // One that has run here, so that its code is loaded; kept under the key, unless that is "".
  absl::StatusOr<HeuristicResult> Take(const MatmulProblem& problem, const std::vector<HeuristicResult>& candidates,
                                       decltype(&FirstOf) pick, const std::string& key) {
    const absl::StatusOr<size_t> picked = pick(context_, handle_, problem, candidates);
    // Without room for operands beside what is there already, the library's word is taken.
    if (absl::IsResourceExhausted(picked.status())) return candidates.front();
    if (!picked.ok()) return picked.status();
    if (!key.empty()) Remember(key, candidates[*picked]);
    return candidates[*picked];
  }

  void Remember(const std::string& key, const HeuristicResult& choice) {
    const absl::Status status = file_.Add(key, choice.algorithm);
    if (!status.ok() && !told_) Note(status);
    told_ = told_ || !status.ok();
  }

  const CudaContext& context_;
  const cuda::lt::CublasLt& library_;
  const MatmulOptions options_;
  const Handle handle_;
  const std::string machine_;
  std::mutex mutex_;  // guards what follows
  cuda::AlgorithmFile file_;
  bool told_ = false;
  std::map<std::string, HeuristicResult> chosen_;
  std::set<std::string> refused_;  // descriptions
};

}  // namespace

absl::StatusOr<std::unique_ptr<GpuMatmuls>> CreateCublasLtMatmuls(const CudaContext& context,
                                                                  const cuda::lt::CublasLt& library,
                                                                  MatmulOptions options) {
  if (absl::Status status = context.Enter(); !status.ok()) return status;
  const absl::StatusOr<int> major = context.Attribute(cuda::kComputeCapabilityMajor);
  const absl::StatusOr<int> minor = context.Attribute(cuda::kComputeCapabilityMinor);
  const absl::StatusOr<int> multiprocessors = context.Attribute(cuda::kMultiprocessorCount);
  for (const auto* it : {&major, &minor, &multiprocessors}) {
    if (!it->ok()) return it->status();
  }
  Handle handle = nullptr;
  if (absl::Status status = library.Explain(library.Create(&handle), "cublasLtCreate"); !status.ok()) return status;
  const std::string name = context.name().substr(context.name().find('('));
  const std::string machine =
      absl::StrCat(name, " sm_", *major, *minor, " x", *multiprocessors, " | cublaslt ", library.GetVersion());
  return std::make_unique<CublasLtMatmuls>(context, library, std::move(options), handle, machine);
}

}  // namespace weft::device
