// The axes of a mesh. What is said of an axis by its name is said here, and asked for everywhere else:
//
//   data   shard   expert   context   tensor   group      outermost first: ranks along `group` are neighbours
//   └ batch ────┘           └ sequence                     what an axis splits of every input
//   └ ZeRO ─────┘                                          what ZeRO may share over
//
// A new axis is a key of `Dist` in runtime/plan/job.proto and a row of kMeshAxes. Pure functions; any thread.
#ifndef WEFT_COMPILER_JOB_AXES_H_
#define WEFT_COMPILER_JOB_AXES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/job.pb.h"

namespace weft {

struct MeshAxis {
  std::string_view name;
  // The key `dist.<name>` that says its size; null for an axis that is part of another one.
  int64_t (Dist::*size)() const;
  void (Dist::*set_size)(int64_t);
  // The axis of which this one is the inner part; empty for an axis with a key. What a model pins the whole to, the
  // part is pinned to, unless the model pins the part too.
  std::string_view part_of;
  // The dimension of every input of a graph that it splits; -1: none. Dimension 0 is the batch.
  int input_dim;
  // Whether its ranks compute the same parameters, so that ZeRO may share these out among them.
  bool shares;

  bool splits_batch() const { return input_dim == 0; }
};

// Outermost first.
inline constexpr MeshAxis kMeshAxes[] = {
    {"data", &Dist::data, &Dist::set_data, "", 0, true},
    {"shard", nullptr, nullptr, "data", 0, true},
    {"expert", &Dist::expert, &Dist::set_expert, "", -1, false},
    {"context", &Dist::context, &Dist::set_context, "", 1, false},
    {"tensor", &Dist::tensor, &Dist::set_tensor, "", -1, false},
    {"group", nullptr, nullptr, "tensor", -1, false},
};

// Null for a name that is none of these, such as `_0`, the first axis of a mesh of raw ranks.
const MeshAxis* FindMeshAxis(std::string_view name);

// The names of those that have a key: what a model may pin.
std::vector<std::string_view> MeshKeys();

// The key whose ranks ZeRO shares over.
const MeshAxis& SharedKey();

// Of a mesh's axes, outermost first, the index of the one that ZeRO shares over, -1 without one: the innermost that may
// be shared over, so that the ranks that share are neighbours.
int SharedAxis(const std::vector<std::string_view>& axes);

struct SizedAxis {
  std::string_view name;
  int64_t size = 1;
};

// The mesh of a resolved job's `dist`, or of one of its stages: the axes larger than 1, outermost first. `zero` may
// cut the key that it shares over in two: data 8 with zero.group 4 is data 2 x shard 4. `tensor` is cut by the model:
// where a parameter is split over `tensor` and whole on `group`, as heads of keys are, and has fewer of what is split
// than there are ranks, `group` is ranks that have the same (compiler/passes/elaborate/place.cc).
std::vector<SizedAxis> MeshOf(const Dist& dist, const Zero& zero);

// Ranks of one stage: the product of all keys of axes.
int64_t StageRanks(const Dist& dist);

// "data 2 x tensor 4": the axes larger than 1.
std::string SizesText(const Dist& dist);

// Ranks of all stages, which have the same mesh; and as "pipeline 3 x data 2 x tensor 4 = 24", or "tensor 4".
int64_t AllRanks(const Dist& dist);
std::string RanksText(const Dist& dist);

// The parts that the batch is cut into, and the keys that say so behind `prefix`: "dist.data".
int64_t BatchParts(const Dist& dist);
std::string BatchKeys(const std::string& prefix);

}  // namespace weft

#endif  // WEFT_COMPILER_JOB_AXES_H_
