// The executor on ranks that are processes. Run by mpirun with as many as the
// plan that the first argument names: `stages` has four, `bundle` two.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "gtest/gtest.h"
#include "runtime/actor/fault.h"
#include "runtime/device/host/device.h"
#include "runtime/executor/executor.h"
#include "tests/fixtures/linear_kernels.h"
#include "tests/fixtures/linear_plans.h"
#include "tests/fixtures/mpi_world.h"

// Weft allocates with `new`, MPI does not: so they can be told apart.
namespace {
std::atomic<long> allocations{0};
}
void* operator new(size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  __builtin_trap();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace weft::executor {
namespace {

collective::World* world = nullptr;
bool stages = true;

// The rank's executor and what it works with.
struct Rank {
  Rank() {
    auto made = Executor::Create(plan, world->rank(),
                                 {.kernels = &kernels,
                                  .device = device.get(),
                                  .communicator = &world->communicator(),
                                  .source = &source,
                                  .fault = &fault});
    EXPECT_TRUE(made.ok()) << made.status();
    executor = *std::move(made);
    EXPECT_TRUE(executor->Initialize().ok());
    fault.AddListener([](const absl::Status& error) { world->communicator().Abort(error); });
  }

  const plan::Plan plan = stages ? TwoStages() : TwoRanksBundled();
  const KernelRegistry kernels = TestKernels();
  const std::unique_ptr<device::Device> device = device::CreateHostDevice();
  SampleSource source;
  actor::Fault fault;
  std::unique_ptr<Executor> executor;
};

TEST(MpiExecutorTest, StepsAsTheReferenceDoes) {
  Rank rank;
  Reference reference = stages ? Reference(8, 4, 2) : Reference(4, 3);
  for (int64_t step = 0; step < 10; ++step) {
    const long before = allocations.load();
    rank.executor->BeginStep(step);
    const absl::Status status = rank.executor->EndStep();
    const long after = allocations.load();
    ASSERT_TRUE(status.ok()) << status;
    if (step > 0) EXPECT_EQ(after, before) << "step " << step << " allocates";
    const absl::StatusOr<float> loss = rank.executor->Metric("loss");
    const float expected = reference.Step(step);
    if (loss.ok()) EXPECT_EQ(*loss, expected) << "step " << step;
    EXPECT_EQ(loss.ok(), !stages || rank.executor->stage() == 1);
  }
  for (const StateTile& tile : rank.executor->state()) {
    const absl::Status compared = rank.executor->SaveTile(tile, [&](const void* bytes) {
      EXPECT_EQ(std::memcmp(bytes, reference.w().data() + tile.spec.origin[0], tile.spec.bytes()), 0);
      return absl::OkStatus();
    });
    EXPECT_TRUE(compared.ok());
  }
}

}  // namespace
}  // namespace weft::executor

int main(int argc, char** argv) {
  const auto world = weft::collective::MakeTestWorld(&argc, argv);
  if (world == nullptr) return 2;
  weft::executor::world = world.get();
  weft::executor::stages = argc > 1 && std::string(argv[1]) == "stages";
  return weft::collective::RunTestsIn(*world);
}
