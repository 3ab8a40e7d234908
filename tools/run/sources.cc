#include "tools/run/sources.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/data/token_batches.h"
#include "runtime/data/token_file.h"

namespace weft::run {
namespace {

class TokenSource : public executor::BatchSource {
 public:
  explicit TokenSource(std::unique_ptr<const data::TokenBatches> batches) : batches_(std::move(batches)) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    if (absl::Status status = batches_->Check(port.spec, port.name); !status.ok()) return status;
    return std::make_unique<Field>(*batches_, port);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const data::TokenBatches& batches, const executor::Port& port)
        : batches_(batches), name_(port.name), spec_(port.spec) {}
    absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
      return batches_.Fill(spec_, name_, step, micro_batch, static_cast<int32_t*>(tile));
    }

   private:
    const data::TokenBatches& batches_;
    const std::string name_;
    const TensorSpec spec_;
  };

  const std::unique_ptr<const data::TokenBatches> batches_;
};

class TensorSource : public executor::BatchSource {
 public:
  explicit TensorSource(std::unique_ptr<const checkpoint::SafetensorsReader> file) : file_(std::move(file)) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    absl::StatusOr<const checkpoint::TensorEntry*> entry = file_->Find(port.name);
    if (!entry.ok()) return entry.status();
    return std::make_unique<Field>(*file_, **entry, port.spec);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const checkpoint::SafetensorsReader& file, const checkpoint::TensorEntry& entry, TensorSpec spec)
        : file_(file), entry_(entry), spec_(std::move(spec)) {}
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      return file_.Read(entry_, spec_, spec_.global_dims, checkpoint::Conversion::kWiden, tile);
    }

   private:
    const checkpoint::SafetensorsReader& file_;
    const checkpoint::TensorEntry& entry_;
    const TensorSpec spec_;
  };

  const std::unique_ptr<const checkpoint::SafetensorsReader> file_;
};

// What kernels of this kind are bound to; `operands` gives their one buffer.
template <typename Operands>
std::vector<InputInfo> PortsOf(const plan::Plan& plan, const char* kind, Operands&& operands) {
  std::map<std::string, InputInfo> ports;
  for (const plan::Stage& stage : plan.stages()) {
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Kernel& kernel : actor.kernels()) {
        const auto name = kernel.attributes().find("name");
        if (kernel.name() != kind || operands(kernel)->size() != 1 || name == kernel.attributes().end()) continue;
        const plan::Buffer& buffer = stage.buffers(operands(kernel)->Get(0));
        ports[name->second.string()] = {
            name->second.string(), buffer.dtype(), {buffer.shape().begin(), buffer.shape().end()}};
      }
    }
  }
  std::vector<InputInfo> list;
  for (auto& [name, port] : ports) list.push_back(std::move(port));
  return list;
}

}  // namespace

std::vector<InputInfo> InputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "input", [](const plan::Kernel& kernel) { return &kernel.outputs(); });
}

std::vector<InputInfo> OutputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "output", [](const plan::Kernel& kernel) { return &kernel.inputs(); });
}

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTokens(const plan::Plan& plan, const std::string& path,
                                                                  uint64_t seed) {
  data::TokenBatches::Options options;
  for (const InputInfo& input : InputsOf(plan)) {
    if (input.name != "tokens" || input.shape.size() != 2) continue;
    options.sequence = input.shape[1];
    options.global_batch = input.shape[0] * plan.header().micro_batches();
  }
  if (options.sequence == 0) {
    return absl::InvalidArgumentError("--data: expected a plan with an input `tokens` of [batch, sequence], got none");
  }
  options.order = plan.header().job().data().order();
  options.seed = seed;
  absl::StatusOr<std::unique_ptr<const data::TokenFile>> file =
      data::TokenFile::Open(path, plan.header().job().data().format());
  if (!file.ok()) return file.status();
  absl::StatusOr<std::unique_ptr<const data::TokenBatches>> batches =
      data::TokenBatches::Create(*std::move(file), options);
  if (!batches.ok()) return batches.status();
  return std::make_unique<TokenSource>(*std::move(batches));
}

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path) {
  absl::StatusOr<std::unique_ptr<const checkpoint::SafetensorsReader>> file = checkpoint::SafetensorsReader::Open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<TensorSource>(*std::move(file));
}

}  // namespace weft::run
