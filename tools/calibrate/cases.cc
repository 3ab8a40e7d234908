#include "tools/calibrate/cases.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "ops/abi/status_macros.h"
#include "runtime/executor/binding.h"
#include "runtime/plan/joins.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/program.h"
#include "runtime/sim/costs.h"

namespace weft::calibrate {
namespace {

// What two kernels have in common that take the same time.
std::string KeyOf(const Case& made, const plan::Kernel& kernel) {
  plan::Kernel named = kernel;
  named.clear_inputs();
  named.clear_outputs();
  named.clear_location();
  named.clear_symbol();  // which another plan may call otherwise
  named.clear_randoms();
  for (const char* note : {plan::kJoined, plan::kApart}) named.mutable_attributes()->erase(note);
  std::string key = named.ShortDebugString();
  for (const auto* side : {&made.spec.inputs, &made.spec.outputs}) {
    for (const TensorSpec& tensor : *side) absl::StrAppend(&key, " ", tensor.ToString());
  }
  for (int input : made.in_place) absl::StrAppend(&key, " ", input);
  return key;
}

Case CaseOf(const executor::RankPlace& place, int32_t actor, const plan::Kernel& kernel) {
  Case made{.work = sim::WorkOf(kernel), .spec = {.name = kernel.name()}};
  made.spec.attributes = executor::AttributesOf(kernel);
  made.spec.coordinates = place.coordinates;
  std::vector<const char*> inputs;
  for (int32_t b : kernel.inputs()) {
    made.spec.inputs.push_back(place.SpecOf(b));
    inputs.push_back(place.AddressOf(actor, b, 0));
  }
  for (int32_t b : kernel.outputs()) {
    made.spec.outputs.push_back(place.SpecOf(b));
    const auto same = std::find(inputs.begin(), inputs.end(), place.AddressOf(actor, b, 0));
    made.in_place.push_back(same == inputs.end() ? -1 : static_cast<int>(same - inputs.begin()));
  }
  return made;
}

bool OnCompute(const plan::Stage& stage, const plan::Actor& actor) {
  return stage.streams(actor.stream()).kind() == plan::Stream::COMPUTE;
}

Case ProductCase(const std::string& type, int64_t m, int64_t n, int64_t k, const char* equation) {
  const DType dtype = TypeOfOperands(type);
  const std::string text = equation;
  const auto tensor = [&](size_t at) {
    const auto extent = [&](char letter) { return letter == 'm' ? m : letter == 'n' ? n : k; };
    return TensorSpec::Whole(dtype, {extent(text[at]), extent(text[at + 1])});
  };
  Case made{.spec = {.name = "einsum"}};
  made.spec.inputs = {tensor(0), tensor(3)};
  made.spec.outputs = {tensor(7)};
  made.spec.attributes.Set("equation", text);
  if (type == "tf32") made.spec.attributes.Set("tf32", int64_t{1});
  made.work.product = {1, m, n, k, type};
  made.work.contraction_flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for (const TensorSpec& it : made.spec.inputs) made.work.bytes += static_cast<double>(it.bytes());
  made.work.bytes += static_cast<double>(made.spec.outputs[0].bytes());
  made.work.family = "einsum";
  made.work.type = type;
  return made;
}

}  // namespace

DType TypeOfOperands(const std::string& type) {
  const auto row = std::find_if(std::begin(kElementTypes), std::end(kElementTypes),
                                [&](const ElementType& it) { return it.name == type; });
  return row == std::end(kElementTypes) ? DType::kF32 : row->type;  // "tf32" is a way to take f32
}

absl::StatusOr<std::vector<Case>> KernelCases(const std::vector<plan::Plan>& plans) {
  std::vector<Case> cases;
  std::set<std::string> known;
  for (const plan::Plan& plan : plans) {
    std::shared_ptr<const code::Code> code;
    if (plan.has_code()) {
      WEFT_ASSIGN_OR_RETURN(code, code::Load(plan.code()));
    }
    for (const plan::Program& program : plan::ProgramsOf(plan)) {
      const executor::RankPlace place{&program, 0, program.placement->ranks(0),
                                      plan::Coordinates(*program.placement, 0), nullptr};
      for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
        const plan::Actor& actor = program.actor(a);
        if (!OnCompute(*program.stage, actor)) continue;
        for (const plan::Kernel& kernel : actor.kernels()) {
          if (plan::IsPort(kernel)) continue;
          Case made = CaseOf(place, a, kernel);
          if (!kernel.symbol().empty()) {
            made.code = code;
            made.generated = kernel;
            made.randoms = place.RandomsOf(kernel);
          }
          if (known.insert(KeyOf(made, kernel)).second) cases.push_back(std::move(made));
        }
      }
    }
  }
  std::stable_sort(cases.begin(), cases.end(),
                   [](const Case& a, const Case& b) { return a.work.bytes < b.work.bytes; });
  return cases;
}

std::vector<Case> ProductCases(const std::vector<int64_t>& sizes, const std::string& type) {
  std::vector<Case> cases;
  for (int64_t m : sizes) {
    for (int64_t n : sizes) {
      for (int64_t k : sizes) {
        for (const char* equation : {"mk,kn->mn", "mk,nk->mn", "km,kn->mn"}) {
          cases.push_back(ProductCase(type, m, n, k, equation));
        }
      }
    }
  }
  return cases;
}

std::vector<plan::KernelWork> WorksOfStep(const plan::Plan& plan) {
  std::vector<plan::KernelWork> works;
  const plan::Program program = plan::ProgramOf(plan, 0);
  for (int32_t a = 0; a < program.stage->actors_size(); ++a) {
    if (!OnCompute(*program.stage, program.actor(a))) continue;
    for (const plan::Kernel& kernel : program.actor(a).kernels()) {
      const int64_t times = program.micro(a) ? program.micro_batches : 1;
      for (int64_t i = 0; i < times; ++i) works.push_back(sim::WorkOf(kernel));
    }
  }
  return works;
}

}  // namespace weft::calibrate
