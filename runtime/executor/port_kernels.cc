#include "runtime/executor/port_kernels.h"

#include <cstring>
#include <utility>
#include <vector>

#include "runtime/collective/tile_copy.h"

namespace weft::executor {
namespace {

TensorSpec InsideOf(const TensorSpec& tile) { return {tile.dtype, tile.InsideDims(), tile.global_dims, tile.origin}; }

// Host memory beside a device's, and the event after the last copy.
struct Staging {
  std::unique_ptr<device::Arena> memory;  // null where the host addresses the device's
  std::unique_ptr<device::Event> copied;
  device::Stream* stream = nullptr;
  size_t bytes = 0;

  static absl::StatusOr<Staging> Create(const Port& port, device::Device& device, device::Stream& stream) {
    if (device.host_addressable()) return Staging();
    absl::StatusOr<std::unique_ptr<device::Arena>> memory = device.AllocateHostMemory(port.spec.bytes());
    if (!memory.ok()) return memory.status();
    absl::StatusOr<std::unique_ptr<device::Event>> event = device.CreateEvent();
    if (!event.ok()) return event.status();
    return Staging{*std::move(memory), *std::move(event), &stream, port.spec.bytes()};
  }
};

// Of a tile that reaches beyond its tensor: what is inside comes from a field of its own, and the rest is 0.
class PaddedField : public BatchField {
 public:
  // `field` may be null, if nothing is inside.
  PaddedField(std::unique_ptr<BatchField> field, const TensorSpec& tile)
      : field_(std::move(field)),
        bytes_(tile.bytes()),
        inside_(field_ == nullptr ? 0 : InsideOf(tile).bytes()),
        copy_(tile.InsideDims(), tile.InsideDims(), std::vector<int64_t>(tile.rank(), 0), tile.dims,
              std::vector<int64_t>(tile.rank(), 0), static_cast<int64_t>(SizeOf(tile.dtype))) {}

  absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
    std::memset(tile, 0, bytes_);
    if (field_ == nullptr) return absl::OkStatus();
    absl::Status status = field_->Fill(step, micro_batch, inside_.data());
    if (status.ok()) copy_.Run(inside_.data(), tile);
    return status;
  }

 private:
  std::unique_ptr<BatchField> field_;
  const size_t bytes_;
  std::vector<char> inside_;
  const collective::TileCopy copy_;
};

class InputKernel : public Kernel {
 public:
  InputKernel(std::unique_ptr<BatchField> field, Staging staging)
      : field_(std::move(field)), staging_(std::move(staging)) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const>, absl::Span<void* const> outputs) override {
    if (staging_.memory == nullptr) return field_->Fill(context.step, context.micro_batch, outputs[0]);
    // The copy of the act before may still read the memory.
    absl::Status status = staging_.copied->Synchronize();
    if (status.ok()) status = field_->Fill(context.step, context.micro_batch, staging_.memory->base());
    if (status.ok()) status = staging_.stream->Copy(outputs[0], staging_.memory->base(), staging_.bytes);
    if (status.ok()) status = staging_.stream->Record(*staging_.copied);
    return status;
  }

 private:
  std::unique_ptr<BatchField> field_;
  Staging staging_;
};

class OutputKernel : public Kernel {
 public:
  OutputKernel(std::unique_ptr<ResultField> field, Staging staging)
      : field_(std::move(field)), staging_(std::move(staging)) {}
  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs, absl::Span<void* const>) override {
    if (staging_.memory == nullptr) return field_->Take(context.step, context.micro_batch, inputs[0]);
    absl::Status status = staging_.stream->Copy(staging_.memory->base(), inputs[0], staging_.bytes);
    if (status.ok()) status = staging_.stream->Record(*staging_.copied);
    if (status.ok()) status = staging_.copied->Synchronize();
    return status.ok() ? field_->Take(context.step, context.micro_batch, staging_.memory->base()) : status;
  }

 private:
  std::unique_ptr<ResultField> field_;
  Staging staging_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<BatchField>> BindInput(BatchSource& source, const Port& port) {
  if (!port.spec.reaches_beyond()) return source.Bind(port);
  Port inside = port;
  inside.spec = InsideOf(port.spec);
  std::unique_ptr<BatchField> field;
  if (inside.spec.elements() > 0) {
    absl::StatusOr<std::unique_ptr<BatchField>> bound = source.Bind(inside);
    if (!bound.ok()) return bound.status();
    field = *std::move(bound);
  }
  return std::make_unique<PaddedField>(std::move(field), port.spec);
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateInputKernel(std::unique_ptr<BatchField> field, const Port& port,
                                                          device::Device& device, device::Stream& stream) {
  absl::StatusOr<Staging> staging = Staging::Create(port, device, stream);
  if (!staging.ok()) return staging.status();
  return std::make_unique<InputKernel>(std::move(field), *std::move(staging));
}

absl::StatusOr<std::unique_ptr<Kernel>> CreateOutputKernel(std::unique_ptr<ResultField> field, const Port& port,
                                                           device::Device& device, device::Stream& stream) {
  absl::StatusOr<Staging> staging = Staging::Create(port, device, stream);
  if (!staging.ok()) return staging.status();
  return std::make_unique<OutputKernel>(std::move(field), *std::move(staging));
}

}  // namespace weft::executor
