// What an all_reduce takes: among two threads, or among the processes of mpirun
// (tools/build_defs/mpirun.sh 2 bazel-bin/tools/bench/collectives). With BYTES_S LATENCY_S MIB, of a rank's way to
// other hosts and of the largest tensor: collectives on two levels beside directly, measured and predicted.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "runtime/collective/local/fabric.h"
#include "runtime/collective/mpi/launch.h"
#include "runtime/collective/mpi/world.h"
#include "runtime/executor/process_cluster.h"
#include "runtime/plan/host_exchange.h"

namespace {

using weft::CollectiveKind;
using weft::collective::CollectiveSpec;
using weft::collective::Communicator;
using weft::collective::PartsBetweenHosts;
using weft::collective::World;

// Microseconds a run; -1 after an error.
struct Times {
  double best = -1, mean = -1;
};

Times Measure(Communicator& communicator, const std::vector<CollectiveSpec>& bundle, int times) {
  weft::collective::Group all{.name = "all"};
  for (int r = 0; r < communicator.size(); ++r) all.ranks.push_back(r);
  auto operation = communicator.CreateCollective(all, bundle);
  if (!operation.ok()) return {};
  std::vector<std::vector<float>> tensors;
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const CollectiveSpec& spec : bundle) {
    inputs.push_back(tensors.emplace_back(spec.dims[0], 1.0f).data());
    const auto dims = weft::collective::OutputDims(spec, communicator.size());
    if (!dims.ok()) return {};
    if (spec.kind != CollectiveKind::kAllReduce) tensors.emplace_back((*dims)[0]);
    outputs.push_back(tensors.back().data());
  }
  double best = 1e30, sum = 0;
  for (int time = -1; time < times; ++time) {
    const auto begin = std::chrono::steady_clock::now();
    if (!(*operation)->Run(inputs, outputs, nullptr).ok()) return {};
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() * 1e6;
    if (time < 0) continue;  // the first one makes connections
    best = std::min(best, took);
    sum += took;
  }
  return {best, sum / times};
}

void Report(Communicator& communicator) {
  const auto line = [&](const char* what, const std::vector<CollectiveSpec>& bundle, int times) {
    double bytes = 0;
    for (const CollectiveSpec& spec : bundle) bytes += 4.0 * static_cast<double>(spec.dims[0]);
    const double best = Measure(communicator, bundle, times).best;
    if (communicator.rank() == 0) std::printf("%-24s %10.1f us  %6.2f GB/s\n", what, best, bytes / best / 1e3);
  };
  line("1 float", {{.dims = {1}}}, 500);
  line("64 KiB", {{.dims = {16384}}}, 200);
  line("4 KiB", {{.dims = {1024}}}, 200);
  line("100 x 4 KiB, a bundle", std::vector<CollectiveSpec>(100, {.dims = {1024}}), 50);
  line("4 MiB", {{.dims = {1 << 20}}}, 30);
  line("64 MiB", {{.dims = {16 << 20}}}, 5);
}

// Seconds of one collective of many, and in how many parts it goes; negative after an error.
struct Measured {
  double seconds = -1;
  int64_t parts = 0;
};

Measured MeasureBetweenHosts(World& world, const CollectiveSpec& spec, const PartsBetweenHosts& parts_of) {
  Measured measured;
  world.SetLevels([&](const std::vector<CollectiveSpec>& bundle, int members, int on_host) {
    return measured.parts = parts_of ? parts_of(bundle, members, on_host) : 0;
  });
  measured.seconds = Measure(world.communicator(), {spec}, 10).mean / 1e6;
  world.SetLevels(nullptr);
  return measured;
}

// The largest tensors are of `mib`.
bool CompareLevels(World& world, const weft::plan::Link& network, int64_t mib) {
  weft::plan::Machine machine;
  machine.network = network;
  const auto& hosts = world.host_of_ranks();
  const int64_t on_host = std::count(hosts.begin(), hosts.end(), hosts[0]);
  const weft::plan::Spread spread{world.size(), on_host};
  for (CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kReduceScatter, CollectiveKind::kAllGather}) {
    for (int64_t kib : {4, 64, 1024, static_cast<int>(1024 * mib)}) {
      const bool gathers = weft::FactsOf(kind).gathers;
      const CollectiveSpec spec{.kind = kind, .dims = {kib * 256 / (gathers ? world.size() : 1)}};
      const double bytes = static_cast<double>(kib) * 1024;
      const Measured direct = MeasureBetweenHosts(world, spec, nullptr);
      const Measured levels = MeasureBetweenHosts(world, spec, weft::executor::PartsBy(machine));
      if (direct.seconds < 0 || levels.seconds < 0) return false;
      if (world.rank() != 0) continue;
      std::printf("  %-15s %6ld KiB  directly %8.2f ms", weft::FactsOf(kind).name, static_cast<long>(kib),
                  direct.seconds * 1e3);
      if (levels.parts == 0) {
        std::printf("  which is what the cost model takes\n");
        continue;
      }
      const double predicted = weft::plan::DirectSeconds(machine, {{kind, bytes}}, spread) /
                               weft::plan::HostExchangeOf(machine, {{kind, bytes}}, spread).seconds;
      std::printf("  on two levels %8.2f ms (parts: %3ld), %5.2f times as fast  predicted %5.2f\n",
                  levels.seconds * 1e3, static_cast<long>(levels.parts), direct.seconds / levels.seconds, predicted);
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (weft::collective::StartedByMpi()) {
    auto world = weft::collective::World::Create();
    if (!world.ok()) {
      std::fprintf(stderr, "%s\n", world.status().ToString().c_str());
      return 1;
    }
    if (argc > 1) {
      const bool compared =
          argc == 4 && CompareLevels(**world, {std::atof(argv[1]), std::atof(argv[2])}, std::atol(argv[3]));
      return (*world)->Finish().ok() && compared ? 0 : 1;
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
