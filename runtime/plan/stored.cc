#include "runtime/plan/stored.h"

#include "runtime/plan/layout.h"

namespace weft::plan {

bool IsStacked(const Buffer& buffer) { return buffer.name().find(kStackedIndex) != std::string::npos; }

std::vector<StoredTensor> StoredTensorsOf(const Buffer& buffer) {
  const auto& dims = buffer.stored_shape_size() > 0 ? buffer.stored_shape() : UnpaddedShape(buffer);
  if (!IsStacked(buffer)) return {{buffer.name(), {dims.begin(), dims.end()}}};
  std::vector<StoredTensor> tensors;
  for (int64_t i = 0; i < UnpaddedShape(buffer)[0]; ++i) {
    std::string name = buffer.name();
    name.replace(name.find(kStackedIndex), 1, std::to_string(i));
    tensors.push_back({std::move(name), {dims.begin() + 1, dims.end()}});
  }
  return tensors;
}

}  // namespace weft::plan
