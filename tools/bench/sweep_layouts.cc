#include "tools/bench/sweep_layouts.h"

#include "absl/strings/str_cat.h"

namespace weft::tools {
namespace {

// Degrees of the grid.
constexpr int64_t kMostDegree = 16;

}  // namespace

std::vector<Scheduled> SchedulesOf(int64_t pipeline, int64_t layers) {
  if (pipeline == 1) return {{}};
  std::vector<Scheduled> all = {{" pipeline.schedule=ONE_F_ONE_B", 1, 1},
                                {" pipeline.schedule=GPIPE", 1, 1},
                                {" pipeline.schedule=ZERO_BUBBLE pipeline.form=H1", 1, 1.0 / 3},
                                {" pipeline.schedule=ZERO_BUBBLE pipeline.form=V", 2, 1.0 / 6}};
  for (int64_t chunks : {2, 3, 4, 6, 8}) {
    if (chunks * pipeline <= layers)
      all.push_back(
          {absl::StrCat(" pipeline.schedule=INTERLEAVED pipeline.chunks=", chunks), chunks, 1.0 / double(chunks)});
  }
  return all;
}

std::vector<Mesh> MeshesOf(int64_t global, int64_t ranks, bool uses_context) {
  std::vector<Mesh> meshes;
  const int64_t most_context = uses_context ? kMostDegree : 1;
  for (int64_t pipeline = 1; pipeline <= kMostDegree; pipeline *= 2) {
    for (int64_t context = 1; context <= most_context; context *= 2) {
      for (int64_t tensor = 1; tensor <= kMostDegree && tensor * context * pipeline <= ranks; tensor *= 2) {
        const int64_t data = ranks / pipeline / context / tensor;
        for (int64_t micro = global; micro >= data; micro /= 2)
          meshes.push_back({data, context, tensor, pipeline, micro});
      }
    }
  }
  return meshes;
}

std::string KeysOf(const Mesh& mesh) {
  return absl::StrCat("dist.data=", mesh.data, mesh.context > 1 ? absl::StrCat(" dist.context=", mesh.context) : "",
                      " dist.tensor=", mesh.tensor, " dist.pipeline=", mesh.pipeline, " batch.micro=", mesh.micro);
}

std::vector<std::string> ZerosOf(const Mesh& mesh, int64_t node_ranks) {
  if (mesh.data == 1) return {" zero.stage=0"};
  const int64_t node = node_ranks / mesh.tensor / mesh.context;  // data ranks
  std::vector<std::string> zeros;
  for (int stage : {1, 0, 2, 3}) {
    zeros.push_back(absl::StrCat(" zero.stage=", stage));
    if (stage > 0 && node > 1 && node < mesh.data) zeros.push_back(absl::StrCat(zeros.back(), " zero.group=", node));
  }
  return zeros;
}

}  // namespace weft::tools
