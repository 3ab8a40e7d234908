// The executor on a device that works as a GPU does: kernels enqueue and
// return. Only events between streams keep the numbers right.

#include "tests/emulation/cuda/deferred.h"

#include <cstring>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/actor/fault.h"
#include "runtime/collective/local/fabric.h"
#include "runtime/executor/executor.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"

namespace weft::executor {
namespace {

// A kernel of the test model that enqueues itself.
template <Function function>
absl::Status Deferred(const KernelSpec& spec, const RunContext& context, Inputs inputs, Outputs outputs) {
  const std::vector<const void*> in(inputs.begin(), inputs.end());
  const std::vector<void*> out(outputs.begin(), outputs.end());
  device::Enqueue(context.stream, [spec, context, in, out] { function(spec, context, in, out).IgnoreError(); });
  return absl::OkStatus();
}

KernelRegistry DeferredKernels() {
  KernelRegistry registry;
  registry.Register("fill", &FunctionKernel<&Deferred<&Fill>>::Create);
  registry.Register("scale", &FunctionKernel<&Deferred<&Scale>>::Create);
  registry.Register("loss", &FunctionKernel<&Deferred<&Loss>>::Create);
  registry.Register("column_sum", &FunctionKernel<&Deferred<&ColumnSum>>::Create);
  registry.Register("accumulate", &FunctionKernel<&Deferred<&Accumulate>>::Create);
  registry.Register("descend", &FunctionKernel<&Deferred<&Descend>>::Create);
  return registry;
}

// Four actors on three streams, two micro-batches in two slots: reading, twice
// the work in the middle, and an update at the end.
plan::Plan ThreeStreams() {
  return PlanOf(R"(
    header { micro_batches: 6 }
    placements { axes { name: "data" size: 1 } ranks: 0 }
    stages {
      arena_bytes: 1024
      buffers { name: "w" dtype: F32 shape: 3 sbp {} kind: PARAMETER offset: 0 slots: 1
                init { name: "fill" attributes { key: "value" value { float: 1 } } } }
      buffers { name: "x" dtype: F32 shape: [2, 3] sbp {} kind: INPUT offset: 64 slots: 2 }
      buffers { name: "y" dtype: F32 shape: [2, 3] sbp {} offset: 192 slots: 1 }
      buffers { name: "loss" dtype: F32 sbp {} offset: 256 slots: 1 }
      buffers { name: "loss_sum" dtype: F32 sbp {} kind: OUTPUT offset: 320 slots: 1 }
      buffers { name: "gradient" dtype: F32 shape: 3 sbp {} kind: GRADIENT offset: 384 slots: 1 }
      buffers { name: "gradient_sum" dtype: F32 shape: 3 sbp {} kind: GRADIENT offset: 448 slots: 1 }
      actors { name: "read" stream: 2 section: MICRO writes: 1
               kernels { name: "input" outputs: 1 attributes { key: "name" value { string: "x" } } } }
      actors { name: "double" stream: 1 section: MICRO reads: 1 writes: 2
               kernels { name: "scale" inputs: 1 outputs: 2 attributes { key: "factor" value { float: 2 } } } }
      actors { name: "backward" stream: 0 section: MICRO reads: 2 writes: [4, 6]
               kernels { name: "loss" inputs: [2, 0] outputs: 3 }
               kernels { name: "accumulate" inputs: [3, 4] outputs: 4 }
               kernels { name: "column_sum" inputs: 2 outputs: 5 }
               kernels { name: "accumulate" inputs: [5, 6] outputs: 6 } }
      actors { name: "update" stream: 1 section: STEP reads: 6 kernels { name: "descend" inputs: [0, 6] outputs: 0 } }
      streams { kind: COMPUTE name: "compute" runs { actors: 2 repeat: 6 } }
      streams { kind: COMPUTE name: "other" runs { actors: 1 repeat: 6 } runs { actors: 3 repeat: 1 } }
      streams { kind: HOST name: "host" runs { actors: 0 repeat: 6 } }
    }
    metrics { name: "loss" buffer: 4 })");
}

TEST(DeferredTest, EventsKeepTheOrder) {
  const plan::Plan plan = ThreeStreams();
  const KernelRegistry kernels = DeferredKernels();
  const std::unique_ptr<device::Device> device = device::CreateDeferredDevice();
  collective::LocalFabric fabric(1);
  const std::unique_ptr<collective::Communicator> communicator = fabric.Join(0);
  SampleSource source;
  actor::Fault fault;
  auto executor = Executor::Create(plan, 0,
                                   {.kernels = &kernels,
                                    .device = device.get(),
                                    .communicator = communicator.get(),
                                    .source = &source,
                                    .fault = &fault});
  ASSERT_TRUE(executor.ok()) << executor.status();
  ASSERT_TRUE((*executor)->Initialize().ok());
  Reference reference(12, 3, 2);
  for (int64_t step = 0; step < 20; ++step) {
    (*executor)->BeginStep(step);
    ASSERT_TRUE((*executor)->EndStep().ok());
    const absl::StatusOr<float> loss = (*executor)->Metric("loss");
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_EQ(*loss, reference.Step(step)) << "step " << step;
  }
  const StateTile& w = (*executor)->state()[0];
  ASSERT_TRUE((*executor)
                  ->SaveTile(w,
                             [&](const void* bytes) {
                               EXPECT_EQ(std::memcmp(bytes, reference.w().data(), w.spec.bytes()), 0);
                               return absl::OkStatus();
                             })
                  .ok());
}

TEST(DeferredTest, StateGoesThroughHostMemory) {
  const plan::Plan plan = ThreeStreams();
  const KernelRegistry kernels = DeferredKernels();
  const std::unique_ptr<device::Device> device = device::CreateDeferredDevice();
  collective::LocalFabric fabric(1);
  const std::unique_ptr<collective::Communicator> communicator = fabric.Join(0);
  SampleSource source;
  actor::Fault fault;
  auto executor = Executor::Create(plan, 0,
                                   {.kernels = &kernels,
                                    .device = device.get(),
                                    .communicator = communicator.get(),
                                    .source = &source,
                                    .fault = &fault});
  ASSERT_TRUE(executor.ok());
  const StateTile& w = (*executor)->state()[0];
  const float values[] = {3, 4, 5};
  auto put = [&](void* bytes) {
    std::memcpy(bytes, values, sizeof(values));
    return absl::OkStatus();
  };
  ASSERT_TRUE((*executor)->LoadTile(w, put).ok());
  auto compare = [&](const void* bytes) {
    EXPECT_EQ(std::memcmp(bytes, values, sizeof(values)), 0);
    return absl::OkStatus();
  };
  ASSERT_TRUE((*executor)->SaveTile(w, compare).ok());
}

}  // namespace
}  // namespace weft::executor
