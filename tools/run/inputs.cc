#include "tools/run/inputs.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/plan/layout.h"

namespace weft::run {
namespace {

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
        ports[name->second.string()] = {name->second.string(),
                                        buffer.dtype(),
                                        {plan::UnpaddedShape(buffer).begin(), plan::UnpaddedShape(buffer).end()}};
      }
    }
  }
  std::vector<InputInfo> list;
  for (auto& [name, port] : ports) list.push_back(std::move(port));
  return list;
}

// The buffers of a stage that hold the input, as it is written or laid out anew.
std::set<int32_t> BuffersOf(const plan::Stage& stage, const std::string& input) {
  std::set<int32_t> buffers;
  size_t before;
  do {
    before = buffers.size();
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Kernel& kernel : actor.kernels()) {
        const auto name = kernel.attributes().find("name");
        const bool named = name != kernel.attributes().end() && name->second.string() == input;
        if (kernel.name() == "input" && named && kernel.outputs_size() == 1) buffers.insert(kernel.outputs(0));
        // What lies beyond the input's extents is not of the input.
        if (kernel.name() == "set_padding" && buffers.count(kernel.inputs(0)) > 0) buffers.insert(kernel.outputs(0));
      }
      for (const plan::Collective& collective : actor.collectives()) {
        if (buffers.count(collective.input()) > 0) buffers.insert(collective.output());
      }
    }
  } while (buffers.size() > before);
  return buffers;
}

}  // namespace

std::vector<InputInfo> InputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "input", [](const plan::Kernel& kernel) { return &kernel.outputs(); });
}

std::vector<InputInfo> OutputsOf(const plan::Plan& plan) {
  return PortsOf(plan, "output", [](const plan::Kernel& kernel) { return &kernel.inputs(); });
}

int64_t SamplesOf(const plan::Plan& plan, const InputInfo& input) {
  const int64_t micro = input.shape[0], all = micro * plan.header().micro_batches();
  const int64_t asked = plan.header().job().batch().global();
  return asked > all - micro && asked < all ? asked : all;
}

std::optional<IdRange> RangeOf(const plan::Plan& plan, const std::string& input) {
  for (const plan::Stage& stage : plan.stages()) {
    const std::set<int32_t> ids = BuffersOf(stage, input);
    for (const plan::Actor& actor : stage.actors()) {
      for (const plan::Kernel& kernel : actor.kernels()) {
        if (kernel.inputs_size() != 2) continue;
        if (kernel.name() == "embedding" && ids.count(kernel.inputs(0)) != 0) {
          const plan::Buffer& table = stage.buffers(kernel.inputs(1));
          return IdRange{absl::StrCat("the rows of `", table.name(), "`"), plan::UnpaddedShape(table)[0]};
        }
        if (kernel.name() == "take" && ids.count(kernel.inputs(1)) != 0) {
          const plan::Buffer& table = stage.buffers(kernel.inputs(0));
          return IdRange{absl::StrCat("the rows of `", table.name(), "`"),
                         plan::UnpaddedShape(table)[kernel.attributes().at("dim").int_()]};
        }
        if (kernel.name() == "pick" && ids.count(kernel.inputs(1)) != 0) {
          const plan::Buffer& logits = stage.buffers(kernel.inputs(0));
          const auto ignore = kernel.attributes().find("ignore_index");
          return IdRange{"the classes of the cross entropy", *plan::UnpaddedShape(logits).rbegin(),
                         ignore == kernel.attributes().end() ? -100 : ignore->second.int_()};
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace weft::run
