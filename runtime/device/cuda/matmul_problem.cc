#include "runtime/device/cuda/matmul_problem.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"

namespace weft::device {
namespace {

using cuda::Handle;
using cuda::lt::HeuristicResult;
namespace lt = cuda::lt;

// Epilogues are set with addresses; until there are any, this one says how they are aligned.
void* AlignedAs(int64_t bytes) { return reinterpret_cast<void*>(static_cast<uintptr_t>(bytes)); }
constexpr int64_t kVectorAlignment = 64;

int TypeOf(DType type) {
  return type == DType::kBF16 ? lt::kBFloat16 : type == DType::kF16 ? lt::kFloat16 : lt::kFloat32;
}

// How a p x q matrix lies in memory, for a library of column-major matrices.
struct Stored {
  bool transposed;
  int64_t rows, columns, ld;
};

absl::StatusOr<Stored> StoredAs(const char* name, int64_t p, int64_t p_stride, int64_t q, int64_t q_stride) {
  if (p == 1 || p_stride == 1) {
    const Stored plain{false, p, q, q == 1 ? p : q_stride};
    if (plain.ld >= p) return plain;
  }
  if (q == 1 || q_stride == 1) {
    const Stored transposed{true, q, p, p == 1 ? q : p_stride};
    if (transposed.ld >= q) return transposed;
  }
  return absl::UnimplementedError(absl::StrCat("matrix product: ", name, ": expected a stride of 1, got ", p, "x", q,
                                               " elements at strides ", p_stride, " and ", q_stride));
}

absl::Status CheckSpec(const GpuMatmulSpec& spec) {
  for (const int64_t extent : {spec.rows, spec.columns, spec.inner, spec.batch}) {
    if (extent >= 1 && extent <= std::numeric_limits<int32_t>::max()) continue;
    return absl::UnimplementedError(absl::StrCat("matrix product: expected extents of 1 to 2^31 - 1, got ", spec.rows,
                                                 "x", spec.columns, "x", spec.inner, ", ", spec.batch, " times"));
  }
  const bool epilogue = spec.bias || spec.gelu || spec.bias_gradient;
  if (epilogue && spec.batch > 1) return absl::UnimplementedError("matrix product: expected no epilogue of a batch");
  if (spec.bias_gradient && (spec.bias || spec.gelu)) {
    return absl::UnimplementedError("matrix product: expected a gradient without another epilogue");
  }
  if (spec.keep && (!spec.gelu || spec.columns % 8 != 0)) {
    return absl::UnimplementedError(
        absl::StrCat("matrix product: what gelu is applied to: expected a multiple of 8 columns, got ", spec.columns));
  }
  return absl::OkStatus();
}

uint32_t EpilogueOf(const GpuMatmulSpec& spec) {
  if (spec.bias_gradient) return lt::kEpilogueBiasGradientA;
  const uint32_t epilogue =
      (spec.bias ? lt::kEpilogueBias : 0u) | (spec.gelu ? lt::kEpilogueGelu : 0u) | (spec.keep ? lt::kEpilogueAux : 0u);
  return epilogue == 0 ? lt::kEpilogueNone : epilogue;
}

std::string TextOf(const Stored& stored, const GpuMatrix& matrix) {
  return absl::StrCat(NameOf(matrix.type), stored.transposed ? "T" : "N", stored.ld, "+", matrix.batch_stride, "@",
                      matrix.alignment);
}

}  // namespace

template <typename T>
absl::Status MatmulProblem::Set(int attribute, T value) const {
  return library_->Explain(library_->DescSetAttribute(operation_.get(), attribute, &value, sizeof(value)),
                           absl::StrCat("cublasLtMatmulDescSetAttribute ", attribute));
}

absl::StatusOr<MatmulProblem::Descriptor> MatmulProblem::Layout(const GpuMatrix& matrix, int64_t rows, int64_t columns,
                                                                int64_t ld) const {
  Handle handle = nullptr;
  absl::Status status =
      library_->Explain(library_->LayoutCreate(&handle, TypeOf(matrix.type), static_cast<uint64_t>(rows),
                                               static_cast<uint64_t>(columns), ld),
                        "cublasLtMatrixLayoutCreate");
  if (!status.ok()) return status;
  Descriptor layout(handle, [library = library_](void* it) { library->LayoutDestroy(it); });
  const int32_t count = static_cast<int32_t>(spec_.batch);
  for (const lt::Status result :
       {library_->LayoutSetAttribute(handle, lt::kBatchCount, &count, sizeof(count)),
        library_->LayoutSetAttribute(handle, lt::kBatchStride, &matrix.batch_stride, sizeof(matrix.batch_stride))}) {
    if (status.ok()) status = library_->Explain(result, "cublasLtMatrixLayoutSetAttribute");
  }
  if (!status.ok()) return status;
  return layout;
}

absl::Status MatmulProblem::DescribeEpilogue() {
  const uint32_t epilogue = EpilogueOf(spec_);
  absl::Status status = Set(lt::kEpilogue, epilogue);
  const bool vector = spec_.bias || spec_.bias_gradient;
  if (status.ok() && vector) status = Set(lt::kBiasPointer, AlignedAs(kVectorAlignment));
  if (status.ok() && spec_.keep) {
    status = Set(lt::kAuxPointer, AlignedAs(spec_.result.alignment));
    if (status.ok()) status = Set(lt::kAuxLd, int64_t{spec_.rows == 1 ? spec_.columns : spec_.result.row_stride});
  }
  absl::StrAppend(&key_, " epilogue ", epilogue);
  return status;
}

absl::Status MatmulProblem::Describe() {
  const absl::StatusOr<Stored> a =
      StoredAs("right operand", spec_.columns, spec_.right.column_stride, spec_.inner, spec_.right.row_stride);
  const absl::StatusOr<Stored> b =
      StoredAs("left operand", spec_.inner, spec_.left.column_stride, spec_.rows, spec_.left.row_stride);
  const absl::StatusOr<Stored> d =
      StoredAs("result", spec_.columns, spec_.result.column_stride, spec_.rows, spec_.result.row_stride);
  for (const auto* it : {&a, &b, &d}) {
    if (!it->ok()) return it->status();
  }
  if (d->transposed) return absl::UnimplementedError("matrix product: result: expected neighbours in a row");
  const bool tf32 = spec_.tf32 && spec_.left.type == DType::kF32;
  Handle handle = nullptr;
  absl::Status status =
      library_->Explain(library_->DescCreate(&handle, tf32 ? lt::kCompute32FastTf32 : lt::kCompute32F, lt::kFloat32),
                        "cublasLtMatmulDescCreate");
  if (!status.ok()) return status;
  operation_ = Descriptor(handle, [library = library_](void* it) { library->DescDestroy(it); });
  key_ = absl::StrCat(spec_.columns, "x", spec_.rows, "x", spec_.inner, "x", spec_.batch, tf32 ? " tf32" : "", " A ",
                      TextOf(*a, spec_.right), " B ", TextOf(*b, spec_.left), " D ", TextOf(*d, spec_.result),
                      spec_.beta != 0 ? " added" : "");
  status = Set(lt::kTransposeA, int32_t{a->transposed ? lt::kOperationT : lt::kOperationN});
  if (status.ok()) status = Set(lt::kTransposeB, int32_t{b->transposed ? lt::kOperationT : lt::kOperationN});
  if (status.ok()) status = DescribeEpilogue();
  if (!status.ok()) return status;
  absl::StatusOr<Descriptor> layouts[3] = {Layout(spec_.right, a->rows, a->columns, a->ld),
                                           Layout(spec_.left, b->rows, b->columns, b->ld),
                                           Layout(spec_.result, d->rows, d->columns, d->ld)};
  for (const auto& layout : layouts) {
    if (!layout.ok()) return layout.status();
  }
  a_ = *layouts[0], b_ = *layouts[1], d_ = *layouts[2];
  return absl::OkStatus();
}

absl::StatusOr<MatmulProblem> MatmulProblem::Create(const lt::CublasLt& library, const GpuMatmulSpec& spec) {
  if (absl::Status status = CheckSpec(spec); !status.ok()) return status;
  MatmulProblem problem(library, spec);
  if (absl::Status status = problem.Describe(); !status.ok()) return status;
  return problem;
}

absl::StatusOr<std::vector<HeuristicResult>> MatmulProblem::Candidates(Handle handle, size_t workspace_bytes,
                                                                       int most) const {
  Handle preference = nullptr;
  absl::Status status = library_->Explain(library_->PreferenceCreate(&preference), "cublasLtMatmulPreferenceCreate");
  if (!status.ok()) return status;
  const Descriptor owner(preference, [library = library_](void* it) { library->PreferenceDestroy(it); });
  const uint64_t bytes = workspace_bytes;
  const auto set = [&](int attribute, const auto& value) {
    if (!status.ok()) return;
    status = library_->Explain(library_->PreferenceSetAttribute(preference, attribute, &value, sizeof(value)),
                               absl::StrCat("cublasLtMatmulPreferenceSetAttribute ", attribute));
  };
  set(lt::kMaxWorkspaceBytes, bytes);
  set(lt::kReductionSchemes, lt::kReductionComputeType);
  set(lt::kAlignmentA, static_cast<uint32_t>(spec_.right.alignment));
  set(lt::kAlignmentB, static_cast<uint32_t>(spec_.left.alignment));
  set(lt::kAlignmentC, static_cast<uint32_t>(spec_.result.alignment));
  set(lt::kAlignmentD, static_cast<uint32_t>(spec_.result.alignment));
  if (!status.ok()) return status;
  std::vector<HeuristicResult> results(static_cast<size_t>(most));
  int count = 0;
  status = library_->Explain(library_->GetHeuristic(handle, operation_.get(), a_.get(), b_.get(), d_.get(), d_.get(),
                                                    preference, most, results.data(), &count),
                             absl::StrCat("cublasLtMatmulAlgoGetHeuristic of ", key_));
  if (!status.ok()) return status;
  results.resize(static_cast<size_t>(count));
  results.erase(std::remove_if(results.begin(), results.end(),
                               [&](const HeuristicResult& candidate) {
                                 return candidate.state != lt::kOk || candidate.workspace_bytes > workspace_bytes;
                               }),
                results.end());
  if (results.empty()) return absl::UnimplementedError(absl::StrCat("cuBLASLt has no algorithm for ", key_));
  return results;
}

absl::StatusOr<HeuristicResult> MatmulProblem::Check(Handle handle, const lt::Algorithm& algorithm) const {
  HeuristicResult result = {};
  const lt::Status status =
      library_->Check(handle, operation_.get(), a_.get(), b_.get(), d_.get(), d_.get(), &algorithm, &result);
  if (status != lt::kOk) return library_->Explain(status, absl::StrCat("cublasLtMatmulAlgoCheck of ", key_));
  result.algorithm = algorithm;
  return result;
}

absl::Status MatmulProblem::Enqueue(Handle handle, const HeuristicResult& choice, const GpuMatmulAddresses& addresses,
                                    void* workspace, Handle stream) const {
  absl::Status status;
  if (spec_.bias) status = Set(lt::kBiasPointer, addresses.bias);
  if (spec_.bias_gradient) status = Set(lt::kBiasPointer, addresses.bias_gradient);
  if (spec_.keep && status.ok()) status = Set(lt::kAuxPointer, addresses.kept);
  if (!status.ok()) return status;
  const lt::Status result =
      library_->Matmul(handle, operation_.get(), &spec_.alpha, addresses.right, a_.get(), addresses.left, b_.get(),
                       &spec_.beta, addresses.added != nullptr ? addresses.added : addresses.result, d_.get(),
                       addresses.result, d_.get(), &choice.algorithm, workspace, choice.workspace_bytes, stream);
  return result == lt::kOk ? absl::OkStatus() : library_->Explain(result, absl::StrCat("cublasLtMatmul of ", key_));
}

}  // namespace weft::device
