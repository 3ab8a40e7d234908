#include "runtime/executor/binding.h"

#include <algorithm>
#include <numeric>

#include "runtime/plan/layout.h"

namespace weft::executor {

Attributes AttributesOf(const plan::Kernel& kernel) {
  Attributes attributes;
  for (const auto& [name, attribute] : kernel.attributes()) {
    switch (attribute.value_case()) {
      case plan::Attribute::kInt:
        attributes.Set(name, int64_t{attribute.int_()});
        break;
      case plan::Attribute::kFloat:
        attributes.Set(name, attribute.float_());
        break;
      case plan::Attribute::kString:
        attributes.Set(name, attribute.string());
        break;
      case plan::Attribute::kInts:
        attributes.Set(name, std::vector<int64_t>(attribute.ints().values().begin(), attribute.ints().values().end()));
        break;
      case plan::Attribute::VALUE_NOT_SET:
        break;
    }
  }
  return attributes;
}

TensorSpec RankPlace::SpecOf(int32_t buffer) const { return SpecOf(program->buffer(buffer)); }

TensorSpec RankPlace::SpecOf(const plan::Buffer& global) const {
  plan::Tile tile = plan::TileOf(*program->placement, global, coordinates);
  TensorSpec spec{TypeOf(global.dtype()),
                  std::move(tile.dims),
                  {plan::UnpaddedShape(global).begin(), plan::UnpaddedShape(global).end()},
                  std::move(tile.origin)};
  if (global.unpadded_shape_size() > 0) spec.padded_dims = {global.shape().begin(), global.shape().end()};
  return spec;
}

std::vector<code::RandomTile> RankPlace::RandomsOf(const plan::Kernel& kernel) const {
  std::vector<code::RandomTile> randoms;
  for (const plan::Random& random : kernel.randoms()) {
    randoms.push_back({static_cast<uint64_t>(random.seed()), SpecOf(random.tensor())});
  }
  return randoms;
}

char* RankPlace::AddressOf(int32_t actor, int32_t buffer, int64_t micro_batch) const {
  const plan::ByteRange range = program->RangeOf(buffer, program->SlotOf(actor, buffer, micro_batch));
  if (program->on_device[buffer]) return base + range.begin;
  const int tier = program->buffer(program->root[buffer]).tier();
  char* const memory = static_cast<size_t>(tier) <= memories.size() ? memories[tier - 1] : nullptr;
  return memory == nullptr ? nullptr : memory + (range.begin - tier * plan::kTierSpan);
}

int64_t RankPlace::PeriodOf(int32_t actor, const std::vector<int32_t>& buffers) const {
  if (!program->micro(actor)) return 1;
  int64_t period = 1;
  for (int32_t b : buffers) {
    period = std::min(std::lcm(period, int64_t{program->buffer(b).slots()}), program->micro_batches);
  }
  return std::max<int64_t>(period, 1);
}

}  // namespace weft::executor
