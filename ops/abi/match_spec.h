// Checks the operands of a kernel against a rule, so that a factory says in one
// line what it accepts.
#ifndef WEFT_OPS_ABI_MATCH_SPEC_H_
#define WEFT_OPS_ABI_MATCH_SPEC_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ops/abi/kernel.h"

namespace weft {

// The local extents that a rule's names stand for.
class Extents {
 public:
  // The extent of dim `letter`.
  int64_t operator[](char letter) const { return letters_[static_cast<unsigned char>(letter)]; }
  // The product of the dims under the ellipsis; 1 if there are none.
  int64_t rows() const;
  const std::vector<int64_t>& ellipsis() const { return ellipsis_; }
  // The element type of the tensors marked "float:"; kInvalid if there are none.
  DType type() const { return type_; }

 private:
  friend absl::StatusOr<Extents> MatchSpec(const KernelSpec& spec, const char* rule);
  friend class SpecMatcher;
  std::array<int64_t, 128> letters_{};
  std::vector<int64_t> ellipsis_;
  DType type_ = DType::kInvalid;
};

// Matches the local shapes and element types of `spec` with `rule`: operands,
// "->", results, each separated by commas. A tensor is a word of letters, one
// a dim, after at most one '.', which stands for any leading dims (the same
// wherever it occurs); an empty word is a scalar, "*" a tensor of any shape.
// "i32:" before a word asks for that element type, "any:" for none in
// particular, and "float:" for f32, bf16 or f16, the same wherever it stands;
// without it f32 is asked for. So "i32:.,vh->.h" is an embedding.
// kInvalidArgument names the first operand that does not fit.
absl::StatusOr<Extents> MatchSpec(const KernelSpec& spec, const char* rule);

// The number of inputs and outputs alone.
absl::Status CheckArity(const KernelSpec& spec, size_t inputs, size_t outputs);

// An integer attribute that lies in [low, high).
absl::StatusOr<int64_t> IntAttribute(const KernelSpec& spec, const char* name, int64_t low, int64_t high);

// A number attribute, or `absent` where there is none.
absl::StatusOr<double> FloatAttribute(const KernelSpec& spec, const char* name, double absent);

}  // namespace weft

#endif  // WEFT_OPS_ABI_MATCH_SPEC_H_
