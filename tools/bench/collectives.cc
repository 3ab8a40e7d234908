// What an all_reduce takes: among two threads, or among the processes of mpirun
// (tools/build_defs/mpirun.sh 2 bazel-bin/tools/bench/collectives).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "runtime/collective/local/fabric.h"
#include "runtime/collective/mpi/launch.h"
#include "runtime/collective/mpi/world.h"

namespace {

using weft::collective::CollectiveSpec;
using weft::collective::Communicator;

// Microseconds a run, the best of `times`; -1 after an error.
double Measure(Communicator& communicator, const std::vector<CollectiveSpec>& bundle, int times) {
  weft::collective::Group all{.name = "all"};
  for (int r = 0; r < communicator.size(); ++r) all.ranks.push_back(r);
  auto operation = communicator.CreateCollective(all, bundle);
  if (!operation.ok()) return -1;
  std::vector<std::vector<float>> tensors;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const CollectiveSpec& spec : bundle) {
    inputs.push_back(tensors.emplace_back(spec.dims[0], 1.0f).data());
    outputs.push_back(tensors.back().data());
  }
  double best = 1e30;
  for (int time = 0; time < times; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    if (!(*operation)->Run(inputs, outputs, nullptr).ok()) return -1;
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6);
  }
  return best;
}

void Report(Communicator& communicator) {
  const auto line = [&](const char* what, const std::vector<CollectiveSpec>& bundle, int times) {
    double bytes = 0;
    for (const CollectiveSpec& spec : bundle) bytes += 4.0 * static_cast<double>(spec.dims[0]);
    const double best = Measure(communicator, bundle, times);
    if (communicator.rank() == 0) std::printf("%-24s %10.1f us  %6.2f GB/s\n", what, best, bytes / best / 1e3);
  };
  line("1 float", {{.dims = {1}}}, 500);
  line("64 KiB", {{.dims = {16384}}}, 200);
  line("4 KiB", {{.dims = {1024}}}, 200);
  line("100 x 4 KiB, a bundle", std::vector<CollectiveSpec>(100, {.dims = {1024}}), 50);
  line("4 MiB", {{.dims = {1 << 20}}}, 30);
  line("64 MiB", {{.dims = {16 << 20}}}, 5);
}

}  // namespace

int main() {
  if (weft::collective::StartedByMpi()) {
    auto world = weft::collective::World::Create();
    if (!world.ok()) {
      std::fprintf(stderr, "%s\n", world.status().ToString().c_str());
      return 1;
    }
    if ((*world)->rank() == 0) std::printf("%d processes\n", (*world)->size());
    Report((*world)->communicator());
    return (*world)->Finish().ok() ? 0 : 1;
  }
  std::printf("2 threads\n");
  weft::collective::LocalFabric fabric(2, 1000);
  std::thread other([&] { Report(*fabric.Join(1)); });
  Report(*fabric.Join(0));
  other.join();
  return 0;
}
