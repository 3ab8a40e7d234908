// The conformance suite over NCCL, emulated: every rank a thread with a GPU of
// its own, to which tensors are copied and from which they come back.
#include "runtime/collective/conformance.h"

#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/emulation/nccl/ranks.h"

namespace weft::collective {
namespace {

// What all ranks of a test share.
struct World {
  explicit World(int ranks) : gpus(ranks, /*connect_at_run=*/true) {}
  void Abort(const absl::Status& why) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (reason.ok()) reason = why;
    }
    gpus.Abort(why);
  }
  absl::Status Reason() {
    std::lock_guard<std::mutex> lock(mutex);
    return reason;
  }
  template <typename T>
  T* Keep(std::unique_ptr<T> it, std::vector<std::unique_ptr<T>>& all) {
    std::lock_guard<std::mutex> lock(mutex);
    all.push_back(std::move(it));
    return all.back().get();
  }

  EmulatedRanks gpus;
  std::mutex mutex;
  absl::Status reason;
  // Until all ranks have ended: memory goes when its GPU has nothing left to do.
  std::vector<std::unique_ptr<device::Arena>> arenas;
  std::vector<std::unique_ptr<device::Stream>> streams;
};

int64_t BytesOf(DType dtype, const std::vector<int64_t>& dims) {
  int64_t bytes = static_cast<int64_t>(SizeOf(dtype));
  for (int64_t d : dims) bytes *= d;
  return bytes;
}

class Staged : public Operation {
 public:
  Staged(World* world, int rank, std::unique_ptr<Operation> inner, std::vector<int64_t> inputs,
         std::vector<int64_t> outputs)
      : world_(*world), inner_(std::move(inner)) {
    device::Device& device = *world->gpus.devices[rank];
    stream_ = world->Keep(*device.CreateStream("test"), world->streams);
    const auto place = [&](const std::vector<int64_t>& bytes, std::vector<Place>& places) {
      for (int64_t it : bytes) {
        places.push_back({it, world->Keep(*device.AllocateHostMemory(it), world->arenas)->base(),
                          world->Keep(*device.AllocateArena(it), world->arenas)->base()});
      }
    };
    place(inputs, inputs_);
    place(outputs, outputs_);
  }

  absl::Status Run(absl::Span<const void* const> inputs, absl::Span<void* const> outputs, void*) override {
    std::vector<const void*> from;
    std::vector<void*> to;
    for (size_t i = 0; i < inputs.size() && i < inputs_.size(); ++i) {
      std::memcpy(inputs_[i].host, inputs[i], inputs_[i].bytes);
      from.push_back(inputs_[i].device);
    }
    for (size_t i = 0; i < outputs.size() && i < outputs_.size(); ++i) {
      std::memcpy(outputs_[i].host, outputs[i], outputs_[i].bytes);
      const bool in_place = i < inputs.size() && i < inputs_.size() && outputs[i] == inputs[i];
      to.push_back(in_place ? inputs_[i].device : outputs_[i].device);
    }
    absl::Status status;
    stream_->Submit([&] { status = Enqueue(from, to); });
    const absl::Status joined = stream_->Join();
    if (absl::Status reason = world_.Reason(); !reason.ok()) return reason;
    if (!status.ok() || !joined.ok()) return status.ok() ? joined : status;
    for (size_t i = 0; i < to.size(); ++i) std::memcpy(outputs[i], outputs_[i].host, outputs_[i].bytes);
    return absl::OkStatus();
  }
  std::string Waiting() const override { return inner_->Waiting(); }

 private:
  struct Place {
    int64_t bytes;
    char* host;
    char* device;
  };
  absl::Status Enqueue(const std::vector<const void*>& from, const std::vector<void*>& to) {
    absl::Status status;
    const auto copy = [&](void* target, const void* source, int64_t bytes) {
      if (status.ok()) status = stream_->Copy(target, source, static_cast<size_t>(bytes));
    };
    for (const Place& it : inputs_) copy(it.device, it.host, it.bytes);
    for (const Place& it : outputs_) copy(it.device, it.host, it.bytes);
    if (status.ok()) status = inner_->Run(from, to, stream_->handle());
    for (size_t i = 0; i < to.size(); ++i) copy(outputs_[i].host, to[i], outputs_[i].bytes);
    return status;
  }

  World& world_;
  const std::unique_ptr<Operation> inner_;
  device::Stream* stream_;
  std::vector<Place> inputs_, outputs_;
};

class StagedCommunicator : public Communicator {
 public:
  StagedCommunicator(World* world, int rank) : world_(*world), inner_(*world->gpus.communicators[rank]) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  absl::StatusOr<std::unique_ptr<Operation>> CreateCollective(const Group& group,
                                                              const std::vector<CollectiveSpec>& specs) override {
    auto made = inner_.CreateCollective(group, specs);
    if (!made.ok()) return made.status();
    std::vector<int64_t> inputs, outputs;
    for (const CollectiveSpec& spec : specs) {
      inputs.push_back(BytesOf(spec.dtype, spec.dims));
      outputs.push_back(BytesOf(spec.dtype, *OutputDims(spec, static_cast<int64_t>(group.ranks.size()))));
    }
    return std::make_unique<Staged>(&world_, rank(), *std::move(made), inputs, outputs);
  }
  absl::StatusOr<std::unique_ptr<Operation>> CreateTransfer(bool sends, DType dtype,
                                                            const std::vector<Link>& links) override {
    auto made = inner_.CreateTransfer(sends, dtype, links);
    if (!made.ok()) return made.status();
    const std::vector<int64_t> tile = {BytesOf(dtype, links[0].block.tile_dims)}, none;
    return std::make_unique<Staged>(&world_, rank(), *std::move(made), sends ? tile : none, sends ? none : tile);
  }
  void Abort(const absl::Status& reason) override { world_.Abort(reason); }

 private:
  World& world_;
  NcclCommunicator& inner_;
};

void RunOverNccl(int ranks, const Body& body) {
  World world(ranks);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] {
      StagedCommunicator communicator(&world, r);
      body(communicator);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(world.gpus.nccl.complaints(), testing::IsEmpty());
  EXPECT_THAT(world.gpus.driver.complaints(), testing::IsEmpty());
  world.streams.clear();
  world.gpus.communicators.clear();
  EXPECT_EQ(world.gpus.nccl.open(), 0);
}

INSTANTIATE_TEST_SUITE_P(OverNccl, CollectiveConformance, testing::Values(&RunOverNccl));

}  // namespace
}  // namespace weft::collective
