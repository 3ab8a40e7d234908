#include "ops/einsum/contraction.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "ops/einsum/words.h"

namespace weft::einsum {
namespace {

const char* const kNames[] = {"left operand", "right operand", "result"};

// The letters of the three operands.
absl::Status LettersOf(const std::string& equation, std::string (&letters)[3]) {
  const std::optional<Equation> parts = einsum::SplitEquation(equation);
  if (!parts) {
    return absl::InvalidArgumentError(absl::StrCat("equation `", equation, "`: expected `left,right->result`"));
  }
  letters[kLeft] = parts->lhs;
  letters[kRight] = parts->rhs;
  letters[kResult] = parts->result;
  for (int operand = 0; operand < 3; ++operand) {
    for (size_t i = 0; i < letters[operand].size(); ++i) {
      const char letter = letters[operand][i];
      const bool known = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
      if (!known || letters[operand].find(letter, i + 1) != std::string::npos) {
        return absl::InvalidArgumentError(absl::StrCat("equation `", equation, "`: ", kNames[operand],
                                                       ": expected distinct letters, got `", letters[operand], "`"));
      }
    }
  }
  return absl::OkStatus();
}

// The axis of `letter`, wherever it occurs.
absl::StatusOr<Axis> AxisOf(char letter, const std::string& equation, const std::string (&letters)[3],
                            const std::vector<int64_t> (&dims)[3]) {
  Axis axis = {-1, {0, 0, 0}};
  for (int operand = 0; operand < 3; ++operand) {
    const size_t at = letters[operand].find(letter);
    if (at == std::string::npos) continue;
    const int64_t extent = dims[operand][at];
    if (axis.extent >= 0 && axis.extent != extent) {
      return absl::InvalidArgumentError(absl::StrCat("equation `", equation, "`: ", kNames[operand], ": expected `",
                                                     std::string(1, letter), "` to be ", axis.extent, ", got ",
                                                     extent));
    }
    axis.extent = extent;
    axis.stride[operand] = 1;
    for (size_t i = at + 1; i < dims[operand].size(); ++i) axis.stride[operand] *= dims[operand][i];
  }
  return axis;
}

// The list that a letter belongs to, null where no matrix product has such a letter.
std::vector<Axis>* ListOf(Contraction& contraction, bool left, bool right, bool result) {
  if (left && right) return result ? &contraction.batch : &contraction.inner;
  if (!result || left == right) return nullptr;
  return left ? &contraction.rows : &contraction.columns;
}

void MergeList(std::vector<Axis>& axes) {
  std::vector<Axis> merged;
  for (const Axis& axis : axes) {
    bool one = !merged.empty();
    for (int operand = 0; one && operand < 3; ++operand) {
      one = merged.back().stride[operand] == axis.stride[operand] * axis.extent;
    }
    if (!one) {
      merged.push_back(axis);
      continue;
    }
    merged.back().extent *= axis.extent;
    for (int operand = 0; operand < 3; ++operand) merged.back().stride[operand] = axis.stride[operand];
  }
  axes = std::move(merged);
}

}  // namespace

absl::StatusOr<Contraction> ParseContraction(const std::string& equation, const std::vector<int64_t> (&dims)[3]) {
  std::string letters[3];
  WEFT_RETURN_IF_ERROR(LettersOf(equation, letters));
  for (int operand = 0; operand < 3; ++operand) {
    if (letters[operand].size() != dims[operand].size()) {
      return absl::InvalidArgumentError(absl::StrCat("equation `", equation, "`: ", kNames[operand], ": expected rank ",
                                                     letters[operand].size(), ", got ", dims[operand].size()));
    }
  }
  Contraction contraction;
  std::string all = letters[kResult];
  for (char letter : letters[kLeft] + letters[kRight]) {
    if (all.find(letter) == std::string::npos) all += letter;
  }
  for (char letter : all) {
    WEFT_ASSIGN_OR_RETURN(Axis axis, AxisOf(letter, equation, letters, dims));
    bool in[3];
    for (int operand = 0; operand < 3; ++operand) in[operand] = letters[operand].find(letter) != std::string::npos;
    std::vector<Axis>* list = ListOf(contraction, in[kLeft], in[kRight], in[kResult]);
    if (!list) {
      return absl::InvalidArgumentError(absl::StrCat("equation `", equation,
                                                     "`: expected each letter in two or three operands, got `",
                                                     std::string(1, letter), "` in one"));
    }
    if (axis.extent != 1) list->push_back(axis);
  }
  return contraction;
}

Contraction Oriented(Contraction contraction) {
  auto innermost = [](const std::vector<Axis>& axes) {
    return std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.stride[kResult] == 1; });
  };
  if (contraction.columns.empty() || !innermost(contraction.rows)) return contraction;
  std::swap(contraction.rows, contraction.columns);
  for (std::vector<Axis>* list : {&contraction.batch, &contraction.rows, &contraction.columns, &contraction.inner}) {
    for (Axis& axis : *list) std::swap(axis.stride[kLeft], axis.stride[kRight]);
  }
  contraction.swapped = !contraction.swapped;
  return contraction;
}

void MakeDense(Contraction& contraction, Operand operand) {
  std::vector<Axis>* const lists[3][3] = {{&contraction.inner, &contraction.rows, &contraction.batch},
                                          {&contraction.columns, &contraction.inner, &contraction.batch},
                                          {&contraction.columns, &contraction.rows, &contraction.batch}};
  int64_t stride = 1;
  for (std::vector<Axis>* list : lists[operand]) {
    for (auto axis = list->rbegin(); axis != list->rend(); ++axis) {
      axis->stride[operand] = stride;
      stride *= axis->extent;
    }
  }
}

Contraction Merged(Contraction contraction) {
  for (std::vector<Axis>* list : {&contraction.batch, &contraction.rows, &contraction.columns, &contraction.inner}) {
    MergeList(*list);
  }
  return contraction;
}

}  // namespace weft::einsum
