#include "ops/abi/match_spec.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace weft {

int64_t Extents::rows() const {
  int64_t n = 1;
  for (int64_t d : ellipsis_) n *= d;
  return n;
}

// Binds names to extents, tensor after tensor.
class SpecMatcher {
 public:
  absl::Status Match(const std::string& what, std::string word, const TensorSpec& tensor) {
    std::string type = "f32";
    if (size_t colon = word.find(':'); colon != std::string::npos) {
      type = word.substr(0, colon);
      word = word.substr(colon + 1);
    }
    if (type == "float") {
      WEFT_RETURN_IF_ERROR(BindType(what, tensor));
    } else if (type != "any" && type != NameOf(tensor.dtype)) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": expected ", type, ", got ", tensor.ToString()));
    }
    if (word == "*") return absl::OkStatus();
    const bool ellipsis = !word.empty() && word[0] == '.';
    const std::string letters = ellipsis ? word.substr(1) : word;
    const size_t rank = tensor.dims.size();
    if (ellipsis ? rank < letters.size() : rank != letters.size()) {
      return absl::InvalidArgumentError(absl::StrCat(what, ": expected rank ", letters.size(),
                                                     ellipsis ? " or more" : "", ", got ", tensor.ToString()));
    }
    const size_t leading = rank - letters.size();
    if (ellipsis) {
      WEFT_RETURN_IF_ERROR(BindEllipsis(what, tensor, leading));
    }
    for (size_t i = 0; i < letters.size(); ++i) {
      WEFT_RETURN_IF_ERROR(BindLetter(what, tensor, leading + i, letters[i]));
    }
    return absl::OkStatus();
  }

  Extents Take() { return std::move(extents_); }

 private:
  absl::Status BindType(const std::string& what, const TensorSpec& tensor) {
    DType& type = extents_.type_;
    const bool is_float = WidensToFloat(tensor.dtype);
    if (!is_float || (type != DType::kInvalid && tensor.dtype != type)) {
      const char* expected = type == DType::kInvalid ? "f32, bf16 or f16" : NameOf(type);
      return absl::InvalidArgumentError(absl::StrCat(what, ": expected ", expected, ", got ", tensor.ToString()));
    }
    type = tensor.dtype;
    return absl::OkStatus();
  }

  absl::Status BindEllipsis(const std::string& what, const TensorSpec& tensor, size_t leading) {
    std::vector<int64_t> dims(tensor.dims.begin(), tensor.dims.begin() + static_cast<int64_t>(leading));
    if (!ellipsis_bound_) {
      ellipsis_bound_ = true;
      extents_.ellipsis_ = std::move(dims);
    } else if (dims != extents_.ellipsis_) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, ": expected leading dims [", absl::StrJoin(extents_.ellipsis_, ","), "], got ", tensor.ToString()));
    }
    return absl::OkStatus();
  }

  absl::Status BindLetter(const std::string& what, const TensorSpec& tensor, size_t dim, char letter) {
    const auto index = static_cast<unsigned char>(letter);
    const int64_t extent = tensor.dims[dim];
    if (!letter_bound_[index]) {
      letter_bound_[index] = true;
      extents_.letters_[index] = extent;
    } else if (extents_.letters_[index] != extent) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": expected dim ", dim, " to be ", extents_.letters_[index], ", got ", tensor.ToString()));
    }
    return absl::OkStatus();
  }

  Extents extents_;
  bool ellipsis_bound_ = false;
  std::array<bool, 128> letter_bound_{};
};

absl::Status CheckArity(const KernelSpec& spec, size_t inputs, size_t outputs) {
  if (spec.inputs.size() == inputs && spec.outputs.size() == outputs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("expected ", inputs, " inputs and ", outputs, " outputs, got ",
                                                 spec.inputs.size(), " and ", spec.outputs.size()));
}

absl::StatusOr<Extents> MatchSpec(const KernelSpec& spec, const char* rule) {
  const char* arrow = std::strstr(rule, "->");
  const std::string before(rule, arrow), after(arrow + 2);
  // Splitting "" gives one word, a scalar.
  const std::vector<std::string> inputs = arrow == rule ? std::vector<std::string>() : absl::StrSplit(before, ',');
  const std::vector<std::string> outputs = absl::StrSplit(after, ',');
  WEFT_RETURN_IF_ERROR(CheckArity(spec, inputs.size(), outputs.size()));
  SpecMatcher matcher;
  for (size_t i = 0; i < inputs.size(); ++i) {
    WEFT_RETURN_IF_ERROR(matcher.Match(absl::StrCat("input ", i), inputs[i], spec.inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    WEFT_RETURN_IF_ERROR(matcher.Match(absl::StrCat("output ", i), outputs[i], spec.outputs[i]));
  }
  return matcher.Take();
}

absl::StatusOr<int64_t> IntAttribute(const KernelSpec& spec, const char* name, int64_t low, int64_t high) {
  absl::StatusOr<int64_t> value = spec.attributes.Int(name);
  if (value.ok() && (*value < low || *value >= high)) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute `", name, "`: expected ", low, " to ", high - 1, ", got ", *value));
  }
  return value;
}

absl::StatusOr<double> FloatAttribute(const KernelSpec& spec, const char* name, double absent) {
  if (!spec.attributes.Has(name)) return absent;
  return spec.attributes.Float(name);
}

}  // namespace weft
