#include "tests/sharding/layout_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/sharding/kernel_call.h"
#include "tests/sharding/ring_program.h"

namespace weft::tests {
namespace {

using ir::ShardingRule;
using ir::Signature;

constexpr size_t kMostFailures = 4;

// Not the first step nor the first micro-batch: kernels that draw or add up must heed both.
RunContext Context() { return {.step = 3, .micro_batch = 1, .seed = 20240229}; }

// Half the distance between neighbouring numbers around 1.
double RoundoffOf(DType dtype) { return dtype == DType::kBF16 ? 0x1p-9 : dtype == DType::kF16 ? 0x1p-12 : 0x1p-24; }

// About how many terms follow one another in a number of `result`: sums run over all factors that it lacks together,
// and over each whole factor, along which rows are normalised or multiplied.
int64_t TermsOf(const ShardingRule& rule, size_t result) {
  std::vector<bool> kept(rule.factors.size(), false);
  for (const ShardingRule::Dim& dim : rule.results[result]) {
    for (int factor : dim) kept[static_cast<size_t>(factor)] = true;
  }
  int64_t summed = 1, whole = 0;
  for (size_t f = 0; f < kept.size(); ++f) {
    if (rule.factors[f].whole) {
      whole += rule.factors[f].size;
    } else if (!kept[f]) {
      summed *= rule.factors[f].size;
    }
  }
  return summed + whole;
}

bool AnyPending(const States& states) {
  return std::any_of(states.begin(), states.end(), [](const ir::SbpState& s) { return s.isPartial(); });
}

double LargestOf(const Values& values) {
  double largest = 0;
  for (double x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

std::string TextOf(const std::vector<States>& tensors) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const States& states : tensors) {
    os << (text.empty() ? "(" : " (");
    llvm::interleaveComma(states, os);
    os << ")";
  }
  return text;
}

// Calls `visit` with every choice of one signature an axis.
template <typename Visit>
void ForEachChoice(const llvm::SmallVector<Signature>& signatures, size_t axes, Visit visit) {
  std::vector<size_t> digits(axes, 0);
  while (true) {
    std::vector<const Signature*> chosen;
    for (size_t digit : digits) chosen.push_back(&signatures[digit]);
    visit(chosen);
    size_t axis = 0;
    while (axis < axes && ++digits[axis] == signatures.size()) digits[axis++] = 0;
    if (axis == axes) return;
  }
}

}  // namespace

std::string LayoutCheck::Layout::ToString() const {
  return TextOf(inputs) + " -> " + TextOf(outputs) + (zigzags ? ", zigzag" : "");
}

LayoutCheck::LayoutCheck(const KernelRegistry& registry, const OpCase& one, mlir::Operation* op)
    : registry_(registry), case_(one), op_(op), accumulates_(one.Mnemonic() == "accumulate") {
  for (mlir::Type type : op->getOperandTypes()) inputs_.push_back(WholeSpec(type));
  for (mlir::Type type : op->getResultTypes()) outputs_.push_back(WholeSpec(type));
  for (const Input& input : one.inputs) fills_.push_back(input.fill);
  if (accumulates_) {
    inputs_.push_back(outputs_[0]);
    fills_.push_back(Fill());
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    input_values_.push_back(Draw(fills_[i], inputs_[i].dtype, inputs_[i].elements(), 100 + i));
  }
}

absl::Status LayoutCheck::RunWhole() {
  absl::StatusOr<KernelSpec> spec = SpecOf(op_, inputs_, outputs_, {});
  if (!spec.ok()) return spec.status();
  absl::StatusOr<std::vector<Values>> outputs = testing::RunKernel(registry_, *spec, input_values_, Context());
  if (!outputs.ok()) return outputs.status();
  for (const Values& values : *outputs) {
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) {
      return absl::InternalError("a result on one rank is not finite: the inputs of the case do not suit the op");
    }
  }
  expected_ = *std::move(outputs);
  return absl::OkStatus();
}

std::vector<std::string> LayoutCheck::Check(const ShardingRule& rule, const Mesh& mesh, Coverage& coverage) {
  const llvm::SmallVector<Signature> signatures = ir::enumerateSignatures(rule);
  coverage.signatures = static_cast<int64_t>(signatures.size());
  std::vector<std::string> failures;
  ForEachChoice(signatures, mesh.sizes.size(), [&](const std::vector<const Signature*>& chosen) {
    Layout layout = LayoutOf(chosen);
    const bool divides = ir::divides(rule, chosen, mesh.sizes);
    std::string wrong;
    if (divides != (Divides(layout, mesh) && IsContiguous(rule, chosen, mesh))) {
      wrong = divides ? "allowed, but a tile would be uneven" : "refused, but every tile is even";
    } else if (!divides) {
      coverage.refused += Divides(layout, mesh) ? 0 : 1;
    } else {
      ++coverage.layouts;
      const auto run = [&] {
        absl::StatusOr<Computed> computed = RunRanks(layout, mesh, coverage);
        return computed.ok() ? Compare(rule, layout, mesh, *computed) : computed.status();
      };
      absl::Status status = run();
      if (layout.ring && status.ok()) {
        layout.zigzags = true;
        status = run();
      }
      wrong = std::string(status.message());
    }
    if (!wrong.empty() && failures.size() < kMostFailures) {
      failures.push_back(absl::StrCat("mesh ", mesh.ToString(), ", ", layout.ToString(), ": ", wrong));
    }
  });
  return failures;
}

bool LayoutCheck::IsContiguous(const ShardingRule& rule, const std::vector<const Signature*>& chosen,
                               const Mesh& mesh) {
  // The parts that the axes so far have cut a factor into.
  std::vector<int64_t> parts(rule.factors.size(), 1);
  for (size_t axis = 0; axis < chosen.size(); ++axis) {
    const int factor = chosen[axis]->factor;
    if (factor < 0) continue;
    if (chosen[axis]->ring && parts[factor] != 1) return false;  // rows and keys of a rank must be those of one place
    for (const auto* tensors : {&rule.operands, &rule.results}) {
      for (const ShardingRule::Tensor& tensor : *tensors) {
        for (const ShardingRule::Dim& dim : tensor) {
          const auto* at = std::find(dim.begin(), dim.end(), factor);
          if (at == dim.end()) continue;
          for (const int* before = dim.begin(); before != at; ++before) {
            if (parts[*before] != rule.factors[*before].size) return false;
          }
        }
      }
    }
    parts[factor] *= mesh.sizes[axis];
  }
  return true;
}

LayoutCheck::Layout LayoutCheck::LayoutOf(const std::vector<const Signature*>& chosen) const {
  Layout layout;
  layout.inputs.resize(inputs_.size());
  layout.outputs.resize(outputs_.size());
  for (const Signature* signature : chosen) {
    layout.ring |= signature->ring;
    for (size_t i = 0; i < signature->operands.size(); ++i) layout.inputs[i].push_back(signature->operands[i]);
    if (accumulates_) layout.inputs.back().push_back(signature->results[0]);
    for (size_t i = 0; i < signature->results.size(); ++i) layout.outputs[i].push_back(signature->results[i]);
  }
  return layout;
}

bool LayoutCheck::Divides(const Layout& layout, const Mesh& mesh) const {
  const std::vector<int64_t> origin = mesh.CoordinatesOf(0);
  auto even = [&](const std::vector<TensorSpec>& tensors, const std::vector<States>& states) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!TileOf(tensors[i], states[i], mesh, origin)) return false;
    }
    return true;
  };
  return even(inputs_, layout.inputs) && even(outputs_, layout.outputs);
}

// What the compiler would let the kernel overwrite: the op allows it, and both lie alike.
std::vector<std::pair<int, int>> LayoutCheck::InPlace(const Layout& layout, const Mesh& mesh) const {
  if (accumulates_) return {{1, 0}};
  std::vector<std::pair<int, int>> pairs;
  const llvm::SmallVector<int64_t> operands = llvm::cast<ir::WeftOpInterface>(op_).getInPlaceOperands();
  for (size_t output = 0; output < operands.size(); ++output) {
    if (operands[output] < 0) continue;
    const auto input = static_cast<size_t>(operands[output]);
    if (layout.inputs[input] == layout.outputs[output] && inputs_[input].dtype == outputs_[output].dtype) {
      pairs.emplace_back(static_cast<int>(input), static_cast<int>(output));
    }
  }
  return pairs;
}

absl::StatusOr<LayoutCheck::Computed> LayoutCheck::RunRanks(const Layout& layout, const Mesh& mesh,
                                                            Coverage& coverage) const {
  std::vector<std::vector<Values>> parts;  // an input, a rank
  for (size_t i = 0; i < inputs_.size(); ++i) {
    absl::StatusOr<std::vector<Values>> scattered =
        Scatter(input_values_[i], inputs_[i], layout.inputs[i], mesh, QuantumOf(fills_[i], inputs_[i].dtype), 7 + i);
    if (!scattered.ok()) return scattered.status();
    parts.push_back(*std::move(scattered));
  }
  Computed computed;
  computed.outputs.resize(outputs_.size());
  computed.largest.resize(outputs_.size(), 0);
  if (layout.ring) {
    WEFT_ASSIGN_OR_RETURN(RingResults ring, RunRing(registry_, op_, layout.zigzags ? "always" : "never", layout.inputs,
                                                    layout.outputs, mesh, parts));
    computed.outputs = std::move(ring.values);
    coverage.zigzag += ring.zigzag ? 1 : 0;
    coverage.kernel_runs += mesh.Ranks();
    for (size_t o = 0; o < outputs_.size(); ++o) {
      for (const Values& part : computed.outputs[o])
        computed.largest[o] = std::max(computed.largest[o], LargestOf(part));
    }
    return computed;
  }
  for (int64_t rank = 0; rank < mesh.Ranks(); ++rank) {
    const std::vector<int64_t> coordinates = mesh.CoordinatesOf(rank);
    std::vector<TensorSpec> inputs, outputs;
    std::vector<Values> values;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      inputs.push_back(*TileOf(inputs_[i], layout.inputs[i], mesh, coordinates));
      values.push_back(parts[i][static_cast<size_t>(rank)]);
    }
    for (size_t o = 0; o < outputs_.size(); ++o) {
      outputs.push_back(*TileOf(outputs_[o], layout.outputs[o], mesh, coordinates));
    }
    absl::StatusOr<KernelSpec> spec = SpecOf(op_, std::move(inputs), std::move(outputs), coordinates);
    if (!spec.ok()) return spec.status();
    ++coverage.kernel_runs;
    absl::StatusOr<std::vector<Values>> results =
        testing::RunKernel(registry_, *spec, values, Context(), InPlace(layout, mesh));
    if (!results.ok()) return results.status();
    for (size_t o = 0; o < outputs_.size(); ++o) {
      computed.largest[o] = std::max(computed.largest[o], LargestOf((*results)[o]));
      computed.outputs[o].push_back(std::move((*results)[o]));
    }
  }
  return computed;
}

absl::Status LayoutCheck::Compare(const ShardingRule& rule, const Layout& layout, const Mesh& mesh,
                                  const Computed& computed) const {
  for (size_t output = 0; output < outputs_.size(); ++output) {
    absl::Status status = CompareOutput(rule, layout, mesh, computed, output);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The bound where sums are cut, as a ring cuts those over keys: each of the `terms` additions of a sum, and of the
// additions that join the ranks, rounds by at most `roundoff` of what it has summed, which is of the order of the
// largest number that any rank holds; the factor 8 is for the few roundings that make up a term.
absl::Status LayoutCheck::CompareOutput(const ShardingRule& rule, const Layout& layout, const Mesh& mesh,
                                        const Computed& computed, size_t output) const {
  absl::StatusOr<Values> gathered = Gather(computed.outputs[output], outputs_[output], layout.outputs[output], mesh);
  const std::string where = absl::StrCat("result ", output);
  if (!gathered.ok()) return absl::InternalError(absl::StrCat(where, ": ", std::string(gathered.status().message())));
  const Values &actual = *gathered, &expected = expected_[output];

  const bool pending =
      AnyPending(layout.outputs[output]) || std::any_of(layout.inputs.begin(), layout.inputs.end(), AnyPending);
  const bool exact = case_.agreement == Agreement::kExact;
  const bool bits = !pending && !layout.ring && case_.agreement != Agreement::kRounded;
  const double scale = std::max(computed.largest[output], LargestOf(expected));
  const double bound = exact || bits ? 0
                                     : 8 * RoundoffOf(outputs_[output].dtype) *
                                           static_cast<double>(TermsOf(rule, output) + mesh.Ranks()) * scale;
  for (size_t i = 0; i < expected.size(); ++i) {
    const bool same =
        bits ? std::memcmp(&actual[i], &expected[i], sizeof(double)) == 0 : std::abs(actual[i] - expected[i]) <= bound;
    if (!same) {
      return absl::InternalError(absl::StrCat(where, ", element ", i, ": expected ", expected[i], " within ", bound,
                                              ", got ", actual[i], ", difference ", actual[i] - expected[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace weft::tests
