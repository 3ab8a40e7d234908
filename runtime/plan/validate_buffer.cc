#include <algorithm>
#include <iterator>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/stored.h"
#include "runtime/plan/validate.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

// Bytes of the elements, or -1 if they are more than a plan may ask for.
int64_t BytesOf(const google::protobuf::RepeatedField<int64_t>& shape, DType dtype) {
  int64_t bytes = ElementBytes(dtype);
  for (int64_t d : shape) {
    if (d > kMaxBytes / bytes) return -1;
    bytes *= d;
  }
  return bytes;
}

// "f32, bf16, ... or u8".
std::string TypeNames() {
  std::string names;
  for (const ElementType& row : kElementTypes) {
    const char* const before = names.empty() ? "" : &row == std::end(kElementTypes) - 1 ? " or " : ", ";
    absl::StrAppend(&names, before, row.name);
  }
  return names;
}

absl::Status CheckType(const Buffer& buffer) {
  if (ElementBytes(buffer.dtype()) == 0)
    return InvalidPlan("element type: expected ", TypeNames(), ", got ", static_cast<int>(buffer.dtype()));
  for (int d = 0; d < buffer.shape_size(); ++d) {
    if (buffer.shape(d) < 1) return InvalidPlan("shape: expected dim ", d, " of at least 1, got ", buffer.shape(d));
  }
  if (BytesOf(buffer.shape(), buffer.dtype()) < 0) return InvalidPlan("shape: expected at most 2^50 bytes, got more");
  const int padded = buffer.unpadded_shape_size();
  if (padded > 0 && padded != buffer.shape_size()) {
    return InvalidPlan("unpadded shape: expected ", buffer.shape_size(), " dims, got ", padded);
  }
  for (int d = 0; d < padded; ++d) {
    if (buffer.unpadded_shape(d) < 1 || buffer.unpadded_shape(d) > buffer.shape(d)) {
      return InvalidPlan("unpadded shape: expected 1 to ", buffer.shape(d), " for dim ", d, ", got ",
                         buffer.unpadded_shape(d));
    }
  }
  if (!Buffer::Kind_IsValid(buffer.kind()))
    return InvalidPlan("kind: expected 0 to ", Buffer::Kind_MAX, ", got ", static_cast<int>(buffer.kind()));
  return absl::OkStatus();
}

absl::Status CheckSbp(const Placement& placement, const Buffer& buffer) {
  if (buffer.sbp_size() != placement.axes_size()) {
    return InvalidPlan("SBP: expected one a mesh axis, ", placement.axes_size(), ", got ", buffer.sbp_size());
  }
  std::vector<int64_t> dims(buffer.shape().begin(), buffer.shape().end());
  for (int a = 0; a < buffer.sbp_size(); ++a) {
    const Sbp& sbp = buffer.sbp(a);
    if (!Sbp::Kind_IsValid(sbp.kind()))
      return InvalidPlan("SBP: expected a kind of 0 to ", Sbp::Kind_MAX, ", got ", static_cast<int>(sbp.kind()));
    if (sbp.kind() != Sbp::SPLIT) continue;
    if (sbp.dim() < 0 || sbp.dim() >= buffer.shape_size()) {
      return InvalidPlan("SBP: expected a split dim below ", buffer.shape_size(), ", got ", TextOf(sbp));
    }
    const int64_t size = placement.axes(a).size();
    if (dims[sbp.dim()] % size != 0) {
      return InvalidPlan("SBP: expected dim ", sbp.dim(), " of ", TypeText(buffer), " to be cut evenly, got ",
                         dims[sbp.dim()], " over ", size, " ranks of axis ", a);
    }
    dims[sbp.dim()] /= size;
  }
  return absl::OkStatus();
}

// Of the memory in which a buffer lies.
int64_t MemoryOf(const Stage& stage, const Buffer& buffer) {
  if (buffer.tier() == 0) return stage.arena_bytes();
  return buffer.tier() <= stage.tier_bytes_size() ? stage.tier_bytes(buffer.tier() - 1) : 0;
}

absl::Status CheckTier(const Plan& plan, const Buffer& buffer) {
  const int tiers = plan.header().cluster().tier_size();
  if (buffer.tier() < 0 || buffer.tier() > tiers) {
    return InvalidPlan("tier: expected 0 to ", tiers, ", as many as the cluster has, got ", buffer.tier());
  }
  if (buffer.tier() == 0) return absl::OkStatus();
  switch (buffer.kind()) {
    case Buffer::PARAMETER:
    case Buffer::OPTIMIZER:
    case Buffer::GRADIENT:
    case Buffer::ACTIVATION:
    case Buffer::WORKING:
      break;
    default:
      return InvalidPlan(
          "tier: expected only of parameters, optimizer state, gradients, activations and working copies, got ",
          Buffer::Kind_Name(buffer.kind()));
  }
  if (buffer.slot_offsets_size() > 0) return InvalidPlan("slot offsets: expected none in a tier");
  return absl::OkStatus();
}

absl::Status CheckSlotOffsets(const Stage& stage, const Buffer& buffer, int64_t slot_bytes) {
  if (buffer.slot_offsets_size() != buffer.slots()) {
    return InvalidPlan("slot offsets: expected none or one for each of ", buffer.slots(), " slots, got ",
                       buffer.slot_offsets_size());
  }
  if (buffer.slot_offsets(0) != buffer.offset()) {
    return InvalidPlan("slot offsets: expected to begin with the offset ", buffer.offset(), ", got ",
                       buffer.slot_offsets(0));
  }
  for (int64_t offset : buffer.slot_offsets()) {
    if (offset < 0 || offset % kAlignment != 0) {
      return InvalidPlan("slot offsets: expected multiples of ", kAlignment, ", got ", offset);
    }
    if (offset > stage.arena_bytes() || slot_bytes > stage.arena_bytes() - offset) {
      return InvalidPlan("bytes: expected to end in an arena of ", stage.arena_bytes(), " bytes, got a slot of ",
                         slot_bytes, " bytes at offset ", offset);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBytes(const Plan& plan, const Stage& stage, const Buffer& buffer) {
  if (buffer.slots() < 1 || buffer.slots() > kMaxSlots) {
    return InvalidPlan("slots: expected 1 to ", kMaxSlots, ", got ", buffer.slots());
  }
  if (buffer.offset() < 0 || buffer.offset() % kAlignment != 0) {
    return InvalidPlan("offset: expected a multiple of ", kAlignment, ", got ", buffer.offset());
  }
  const int64_t slot = AlignUp(LocalBytes(plan.placements(stage.placement()), buffer));
  if (buffer.slot_offsets_size() > 0) return CheckSlotOffsets(stage, buffer, slot);
  const int64_t memory = MemoryOf(stage, buffer);
  if (buffer.offset() > memory || slot > (memory - buffer.offset()) / buffer.slots()) {
    return InvalidPlan("bytes: expected to end in ", buffer.tier() == 0 ? "an arena" : "a tier", " of ", memory,
                       " bytes, got ", buffer.slots(), " slots of ", slot, " bytes at offset ", buffer.offset());
  }
  return absl::OkStatus();
}

// A narrow copy of a parameter.
absl::Status CheckCopy(const Stage& stage, const Buffer& buffer) {
  const Kernel& init = buffer.init();
  if (buffer.kind() != Buffer::WORKING)
    return InvalidPlan("init `", init.name(), "`: expected no inputs, got ", init.inputs_size());
  if (init.name() != "cast") return InvalidPlan("init of a copy: expected `cast`, got `", init.name(), "`");
  const int32_t of = init.inputs(0);
  if (init.inputs_size() != 1 || of < 0 || of >= stage.buffers_size()) {
    return InvalidPlan("init `cast`: expected one input of 0 to ", stage.buffers_size() - 1, ", got ",
                       init.inputs_size(), ", the first of them ", of);
  }
  const Buffer& parameter = stage.buffers(of);
  if (parameter.kind() != Buffer::PARAMETER || parameter.alias_of() != 0 || parameter.tier() != 0) {
    return InvalidPlan("init `cast`: expected a parameter on the device, got `", parameter.name(), "`");
  }
  if (buffer.alias_of() != 0 || buffer.tier() != 0)
    return InvalidPlan("init `cast`: expected bytes of its own on the device, got others");
  const auto layoutOf = [](const Buffer& one) {
    std::vector<std::pair<int, int>> layout;
    for (const Sbp& sbp : one.sbp()) layout.emplace_back(sbp.kind(), sbp.dim());
    return layout;
  };
  const bool same =
      std::equal(buffer.shape().begin(), buffer.shape().end(), parameter.shape().begin(), parameter.shape().end()) &&
      std::equal(buffer.unpadded_shape().begin(), buffer.unpadded_shape().end(), parameter.unpadded_shape().begin(),
                 parameter.unpadded_shape().end()) &&
      layoutOf(buffer) == layoutOf(parameter);
  if (!same || ElementBytes(buffer.dtype()) >= ElementBytes(parameter.dtype())) {
    return InvalidPlan("init `cast`: expected a narrower type in the layout of `", parameter.name(), "`, ",
                       TypeText(parameter), ", got ", TypeText(buffer));
  }
  return absl::OkStatus();
}

absl::Status CheckStoredType(const Plan& plan, const Buffer& buffer) {
  if (buffer.stored_dtype() == INVALID) return absl::OkStatus();
  if (plan.header().training() || buffer.kind() != Buffer::PARAMETER || buffer.tier() != 0 || buffer.alias_of() != 0) {
    return InvalidPlan("stored element type: expected only of a function's parameters, on the device");
  }
  if (ElementBytes(buffer.stored_dtype()) <= ElementBytes(buffer.dtype())) {
    return InvalidPlan("stored element type: expected a wider one than that of ", TypeText(buffer), ", got ",
                       static_cast<int>(buffer.stored_dtype()));
  }
  return absl::OkStatus();
}

// Parameters, optimizer state and other buffers with an initial value.
absl::Status CheckState(const Plan& plan, const Stage& stage, int index) {
  const Buffer& buffer = stage.buffers(index);
  if (absl::Status status = CheckStoredType(plan, buffer); !status.ok()) return status;
  const bool state = buffer.kind() == Buffer::PARAMETER || buffer.kind() == Buffer::OPTIMIZER;
  const bool kept = state || buffer.kind() == Buffer::CACHE;
  if (kept && !buffer.has_init()) return InvalidPlan("init: expected a kernel that makes the initial value, got none");
  if (buffer.stored_shape_size() > 0) {
    if (!state) return InvalidPlan("stored shape: expected only on parameters and optimizer state");
    for (int64_t d : buffer.stored_shape()) {
      if (d < 1) return InvalidPlan("stored shape: expected dims of at least 1, got ", d);
    }
    const int64_t stored = BytesOf(buffer.stored_shape(), buffer.dtype());
    const int64_t own = BytesOf(UnpaddedShape(buffer), buffer.dtype());
    if (stored != own)
      return InvalidPlan("stored shape: expected as many elements as ", TypeText(buffer), ", got another count");
  }
  if (state && IsStacked(buffer)) {
    const bool same = buffer.stored_shape_size() == 0 || buffer.shape_size() == 0 ||
                      buffer.stored_shape(0) == UnpaddedShape(buffer)[0];
    if (buffer.shape_size() == 0 || !same) {
      return InvalidPlan("name: expected a first dim, stored too, that its `*` stands for, got ", TypeText(buffer));
    }
  }
  if (!buffer.has_init()) return absl::OkStatus();
  if (buffer.slots() != 1) return InvalidPlan("slots of state: expected 1, got ", buffer.slots());
  for (const Sbp& sbp : buffer.sbp()) {
    if (sbp.kind() == Sbp::PARTIAL_SUM || sbp.kind() == Sbp::PARTIAL_MAX) {
      return InvalidPlan("SBP of state: expected S or B, got ", TextOf(sbp));
    }
  }
  const Kernel& init = buffer.init();
  if (init.name().empty()) return InvalidPlan("init: expected a kernel name");
  if (init.inputs_size() != 0) {
    if (absl::Status status = CheckCopy(stage, buffer); !status.ok()) return status;
  }
  if (init.outputs_size() > 1 || (init.outputs_size() == 1 && init.outputs(0) != index)) {
    return InvalidPlan("init `", init.name(), "`: expected the buffer itself as output, or none");
  }
  return absl::OkStatus();
}

absl::Status CheckAlias(const Placement& placement, const Stage& stage, int b) {
  const Buffer& buffer = stage.buffers(b);
  int32_t root = b;
  for (int steps = 0; stage.buffers(root).alias_of() != 0; ++steps) {
    const int32_t next = stage.buffers(root).alias_of();
    if (next < 1 || next > stage.buffers_size()) {
      return InvalidPlan("alias: expected an index of 1 to ", stage.buffers_size(), ", got ", next);
    }
    if (steps >= stage.buffers_size())
      return InvalidPlan("alias: expected a buffer with bytes of its own, got a cycle of aliases");
    root = next - 1;
  }
  if (root == b) return absl::OkStatus();
  const Buffer& whole = stage.buffers(root);
  if (buffer.tier() != whole.tier()) {
    return InvalidPlan("alias: expected bytes of tier ", buffer.tier(), " (0: the device), got `", whole.name(),
                       "` of tier ", whole.tier());
  }
  // What pads the bytes of the whole belongs to nobody.
  const int64_t slot = LocalBytes(placement, buffer), whole_slot = LocalBytes(placement, whole);
  const bool one = buffer.slots() == 1 && whole.slots() == 1;
  const bool inside = buffer.offset() >= whole.offset() && buffer.offset() + slot <= whole.offset() + whole_slot;
  const bool same = buffer.offset() == whole.offset() && buffer.slots() == whole.slots() && slot == whole_slot &&
                    std::equal(buffer.slot_offsets().begin(), buffer.slot_offsets().end(), whole.slot_offsets().begin(),
                               whole.slot_offsets().end());
  if (one ? !inside : !same) {
    return InvalidPlan("alias: expected bytes of `", whole.name(), "` (", whole.slots(), " slots of ", whole_slot,
                       " bytes at ", whole.offset(), "), got ", buffer.slots(), " slots of ", slot, " bytes at ",
                       buffer.offset());
  }
  if (buffer.has_init() && !whole.has_init()) {
    return InvalidPlan("alias: expected state to view state, got `", whole.name(), "`, which has no initial value");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckBuffers(const Plan& plan, const Stage& stage) {
  const Placement& placement = plan.placements(stage.placement());
  if (stage.arena_bytes() < 0 || stage.arena_bytes() > kMaxBytes) {
    return InvalidPlan("arena: expected 0 to 2^50 bytes, got ", stage.arena_bytes());
  }
  const int tiers = plan.header().cluster().tier_size();
  if (stage.tier_bytes_size() > tiers) {
    return InvalidPlan("tiers: expected the bytes of at most ", tiers, ", as many as the cluster has, got ",
                       stage.tier_bytes_size());
  }
  for (int64_t bytes : stage.tier_bytes()) {
    if (bytes < 0 || bytes > kMaxBytes) return InvalidPlan("tier: expected 0 to 2^50 bytes, got ", bytes);
  }
  absl::flat_hash_set<std::string> names;
  for (int b = 0; b < stage.buffers_size(); ++b) {
    const Buffer& buffer = stage.buffers(b);
    if (buffer.name().empty()) return InvalidPlan("buffer ", b, ": expected a name");
    if (!names.insert(buffer.name()).second) return InvalidPlan("buffer `", buffer.name(), "`: two have this name");
    absl::Status status = CheckType(buffer);
    if (status.ok()) status = CheckSbp(placement, buffer);
    if (status.ok()) status = CheckTier(plan, buffer);
    if (status.ok()) status = CheckBytes(plan, stage, buffer);
    if (status.ok()) status = CheckState(plan, stage, b);
    if (!status.ok()) return Under(absl::StrCat("buffer `", buffer.name(), "`"), status);
  }
  for (int b = 0; b < stage.buffers_size(); ++b) {
    absl::Status status = CheckAlias(placement, stage, b);
    if (!status.ok()) return Under(absl::StrCat("buffer `", stage.buffers(b).name(), "`"), status);
  }
  return absl::OkStatus();
}

}  // namespace weft::plan
