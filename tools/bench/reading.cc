// How fast a source of data fills the batches of a plan, by one thread: reading PLAN DATA. Prints samples a second.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "runtime/plan/enums.h"
#include "runtime/plan/load.h"
#include "tools/run/inputs.h"
#include "tools/run/sources.h"

namespace weft {
namespace {

constexpr double kSeconds = 0.5;  // of reading: some thousand batches

struct Input {
  std::vector<char> tile;
  std::unique_ptr<executor::BatchField> field;
};

absl::StatusOr<double> Measure(const std::string& plan_path, const std::string& data_path) {
  plan::Plan plan;
  if (absl::Status status = plan::LoadInto(plan_path, plan); !status.ok()) return status;
  const auto data = run::OpenData(plan, data_path, {.seed = plan.header().job().seed()});
  if (!data.ok()) return data.status();
  std::vector<Input> inputs;
  for (const run::InputInfo& info : run::InputsOf(plan)) {
    executor::Port port;
    port.name = info.name;
    port.spec = TensorSpec::Whole(plan::TypeOf(info.dtype), info.shape);
    auto field = data->source->Bind(port);
    if (!field.ok()) return field.status();
    inputs.push_back({std::vector<char>(port.spec.bytes()), *std::move(field)});
  }
  const auto begin = std::chrono::steady_clock::now();
  double seconds = 0;
  int64_t steps = 0;
  for (; seconds < kSeconds; ++steps) {
    for (Input& input : inputs) {
      for (int64_t m = 0; m < plan.header().micro_batches(); ++m) {
        if (absl::Status status = input.field->Fill(steps, m, input.tile.data()); !status.ok()) return status;
      }
    }
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  return static_cast<double>(steps * data->batch) / seconds;
}

}  // namespace
}  // namespace weft

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: reading PLAN DATA\n");
    return 2;
  }
  const auto rate = weft::Measure(argv[1], argv[2]);
  if (!rate.ok()) {
    std::fprintf(stderr, "reading: %s\n", std::string(rate.status().message()).c_str());
    return 1;
  }
  std::printf("%.0f samples a second\n", *rate);
  return 0;
}
