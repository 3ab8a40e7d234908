#include "ops/abi/attributes.h"

#include "absl/strings/str_cat.h"

namespace weft {
namespace {

const char* const kKinds[] = {"an integer", "a float", "a string", "a list of integers"};

template <typename T>
absl::StatusOr<T> Get(const std::map<std::string, AttributeValue>& values, const std::string& name, int kind) {
  auto it = values.find(name);
  if (it == values.end()) {
    return absl::InvalidArgumentError(absl::StrCat("attribute `", name, "`: expected ", kKinds[kind], ", got none"));
  }
  if (const T* value = std::get_if<T>(&it->second)) return *value;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute `", name, "`: expected ", kKinds[kind], ", got ", kKinds[it->second.index()]));
}

}  // namespace

absl::StatusOr<int64_t> Attributes::Int(const std::string& name) const { return Get<int64_t>(values_, name, 0); }

absl::StatusOr<double> Attributes::Float(const std::string& name) const {
  if (auto it = values_.find(name); it != values_.end() && std::holds_alternative<int64_t>(it->second)) {
    return static_cast<double>(std::get<int64_t>(it->second));
  }
  return Get<double>(values_, name, 1);
}

absl::StatusOr<std::string> Attributes::String(const std::string& name) const {
  return Get<std::string>(values_, name, 2);
}

absl::StatusOr<std::vector<int64_t>> Attributes::Ints(const std::string& name) const {
  return Get<std::vector<int64_t>>(values_, name, 3);
}

}  // namespace weft
