// The words between the compiler and the kernels of einsum: the equation, and what is done beside the product. The
// standard library alone, since both sides read it.
#ifndef WEFT_OPS_EINSUM_WORDS_H_
#define WEFT_OPS_EINSUM_WORDS_H_

#include <optional>
#include <string_view>

namespace weft::einsum {

// The letters of the operands and of the result: of "ij,jk->ik" these are "ij", "jk" and "ik".
struct Equation {
  std::string_view lhs, rhs, result;
};

// The parts of `text`, which has to outlive them; nothing unless there are two operands and a result. Whether the parts
// are letters is not looked at.
constexpr std::optional<Equation> SplitEquation(std::string_view text) {
  const size_t comma = text.find(','), arrow = text.find("->");
  const size_t none = std::string_view::npos;
  if (comma == none || arrow == none || arrow < comma || text.find(',', comma + 1) != none ||
      text.find("->", arrow + 2) != none) {
    return std::nullopt;
  }
  return Equation{text.substr(0, comma), text.substr(comma + 1, arrow - comma - 1), text.substr(arrow + 2)};
}

// The attribute `epilogue` is absent or one of these; epilogue.h says what they do.
inline constexpr char kAdd[] = "add";
inline constexpr char kBias[] = "bias";
inline constexpr char kBiasGelu[] = "bias gelu";
inline constexpr char kBiasGeluKeep[] = "bias gelu keep";
inline constexpr char kGelu[] = "gelu";
inline constexpr char kGeluKeep[] = "gelu keep";
inline constexpr char kSumLhs[] = "sum_lhs";
inline constexpr char kSumRhs[] = "sum_rhs";
inline constexpr const char* kEpilogues[] = {kAdd, kBias, kBiasGelu, kBiasGeluKeep, kGelu, kGeluKeep, kSumLhs, kSumRhs};

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_WORDS_H_
