// What a rank may compute with: the names that `device.kind` of a cluster, the target of a plan and its placements
// have, and what the compiler and the programs have to know of each. Pure functions; any thread.
#ifndef WEFT_RUNTIME_PLAN_DEVICES_H_
#define WEFT_RUNTIME_PLAN_DEVICES_H_

#include <string>
#include <string_view>

namespace weft::plan {

struct DeviceKind {
  std::string_view name;
  // Kernels are functions of this program: a cluster may leave rates out, which are then those of one core, and what is
  // fused still runs one part after another.
  bool host;
  // Contractions may round float32 operands to TF32.
  bool tf32;
};

inline constexpr DeviceKind kDeviceKinds[] = {
    {"cpu", true, false},
    {"cuda", false, true},
};

// Null for a name that is none of these.
constexpr const DeviceKind* FindDeviceKind(std::string_view name) {
  for (const DeviceKind& kind : kDeviceKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

constexpr bool IsHost(std::string_view name) {
  const DeviceKind* kind = FindDeviceKind(name);
  return kind != nullptr && kind->host;
}

// "cpu or cuda", each between two of `quote`.
inline std::string DeviceKindNames(const std::string& quote = "") {
  std::string names;
  for (const DeviceKind& kind : kDeviceKinds) {
    names += (names.empty() ? "" : " or ") + quote + std::string(kind.name) + quote;
  }
  return names;
}

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_DEVICES_H_
