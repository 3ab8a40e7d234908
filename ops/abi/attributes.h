// The compile-time constants of a kernel: what the plan carries beside shapes.
#ifndef WEFT_OPS_ABI_ATTRIBUTES_H_
#define WEFT_OPS_ABI_ATTRIBUTES_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft {

using AttributeValue = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

// A small ordered map from name to value. Reading is typed: a missing name or
// another type is kInvalidArgument naming the attribute. Not thread-safe.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, AttributeValue>> values) : values_(values) {}

  void Set(const std::string& name, AttributeValue value) { values_[name] = std::move(value); }
  bool Has(const std::string& name) const { return values_.count(name) != 0; }
  const std::map<std::string, AttributeValue>& values() const { return values_; }

  absl::StatusOr<int64_t> Int(const std::string& name) const;
  // Accepts an integer as well.
  absl::StatusOr<double> Float(const std::string& name) const;
  absl::StatusOr<std::string> String(const std::string& name) const;
  absl::StatusOr<std::vector<int64_t>> Ints(const std::string& name) const;

 private:
  std::map<std::string, AttributeValue> values_;
};

}  // namespace weft

#endif  // WEFT_OPS_ABI_ATTRIBUTES_H_
