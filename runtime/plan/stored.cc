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

std::map<std::string, std::vector<int64_t>> StoredParametersOf(const Plan& plan) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const Stage& stage : plan.stages()) {
    for (const Buffer& buffer : stage.buffers()) {
      if (buffer.kind() != Buffer::PARAMETER || buffer.alias_of() != 0) continue;
      for (const StoredTensor& tensor : StoredTensorsOf(buffer)) shapes[tensor.name] = tensor.shape;
    }
  }
  return shapes;
}

}  // namespace weft::plan
