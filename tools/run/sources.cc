#include "tools/run/sources.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/data/token_batches.h"
#include "runtime/data/token_file.h"
#include "runtime/plan/names.h"

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

const char* FormOf(Format format) { return format == U32 ? "uint32" : format == U16 ? "uint16" : "text"; }

// What tokens index; no rows: not known.
struct Table {
  std::string name;
  int64_t rows = 0;
};

// That of an `embedding` of what an `input` called `tokens` writes.
Table TableOfTokens(const plan::Plan& plan) {
  for (const plan::Stage& stage : plan.stages()) {
    std::set<int32_t> tokens;
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Kernel& kernel : actor.kernels()) {
        const auto name = kernel.attributes().find("name");
        const bool named = name != kernel.attributes().end() && name->second.string() == "tokens";
        if (kernel.name() == "input" && named && kernel.outputs_size() == 1) tokens.insert(kernel.outputs(0));
      }
    }
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Kernel& kernel : actor.kernels()) {
        if (kernel.name() != "embedding" || kernel.inputs_size() != 2 || tokens.count(kernel.inputs(0)) == 0) continue;
        const plan::Buffer& table = stage.buffers(kernel.inputs(1));
        return {table.name(), table.shape(0)};
      }
    }
  }
  return {};
}

}  // namespace

std::vector<InputInfo> InputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "input", [](const plan::Kernel& kernel) { return &kernel.outputs(); });
}

std::vector<InputInfo> OutputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "output", [](const plan::Kernel& kernel) { return &kernel.inputs(); });
}

absl::StatusOr<TokenData> OpenTokens(const plan::Plan& plan, const std::string& path, uint64_t seed) {
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
  const data::TokenLook look = (*file)->Look();
  const Table table = TableOfTokens(plan);
  if (table.rows > 0 && look.largest >= table.rows) {
    return absl::OutOfRangeError(absl::StrCat(path, ": expected tokens below ", table.rows, ", the rows of `",
                                              table.name, "`, got ", look.largest, " at ", look.largest_at));
  }
  TokenData opened;
  opened.record = {{"data", path},
                   {"data_form", FormOf((*file)->format())},
                   {"data_tokens", absl::StrCat((*file)->size())},
                   {"data_hash", checkpoint::ToHex(look.hash)}};
  opened.text = absl::StrCat(path, ": ", plan::CountText((*file)->size()), " tokens, ", opened.record["data_form"],
                             ", largest ", plan::CountText(look.largest),
                             table.rows > 0 ? absl::StrCat(" of ", plan::CountText(table.rows)) : "",
                             look.whole ? "" : " in the parts that were looked at");
  auto batches = data::TokenBatches::Create(*std::move(file), options);
  if (!batches.ok()) return batches.status();
  opened.source = std::make_unique<TokenSource>(*std::move(batches));
  return opened;
}

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path) {
  absl::StatusOr<std::unique_ptr<const checkpoint::SafetensorsReader>> file = checkpoint::SafetensorsReader::Open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<TensorSource>(*std::move(file));
}

}  // namespace weft::run
