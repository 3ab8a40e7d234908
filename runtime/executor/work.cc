#include "runtime/executor/work.h"

#include "absl/strings/str_cat.h"

namespace weft::executor {

absl::Status FencedWork::Run(const actor::Act& act) {
  absl::Status status = site_.fences->Before(site_.actor, act.micro_batch, *site_.stream);
  if (!status.ok()) return status;
  const Graphs::Part part = site_.graphs->PartOf(site_.actor, act.micro_batch);
  if (part.graph == nullptr) {
    status = Do(act);
  } else if (part.first) {
    status = site_.stream->Replay(*part.graph);
  }
  if (status.ok()) status = site_.fences->After(site_.actor, act.micro_batch, *site_.stream);
  return status;
}

void KernelWork::Add(const Place& place, const plan::Kernel& kernel, std::unique_ptr<Kernel> made, std::string where) {
  Call call{.kernel = std::move(made), .where = std::move(where)};
  std::vector<int32_t> operands(kernel.inputs().begin(), kernel.inputs().end());
  operands.insert(operands.end(), kernel.outputs().begin(), kernel.outputs().end());
  call.period = place.PeriodOf(site_.actor, operands);
  call.input_count = kernel.inputs_size();
  call.output_count = kernel.outputs_size();
  for (int64_t i = 0; i < call.period; ++i) {
    for (int32_t b : kernel.inputs()) call.inputs.push_back(place.AddressOf(site_.actor, b, i));
    for (int32_t b : kernel.outputs()) call.outputs.push_back(place.AddressOf(site_.actor, b, i));
  }
  calls_.push_back(std::move(call));
}

absl::Status KernelWork::Do(const actor::Act& act) {
  const RunContext context{.step = steady_ ? RunContext::kNoStep : act.step,
                           .micro_batch = act.micro_batch,
                           .seed = site_.seed,
                           .stream = site_.stream->handle()};
  int64_t begin = track_ == nullptr ? 0 : trace::NowNs();
  for (size_t k = 0; k < calls_.size(); ++k) {
    const Call& call = calls_[k];
    const size_t phase = static_cast<size_t>(call.period == 1 ? 0 : act.micro_batch % call.period);
    const absl::Status status =
        call.kernel->Run(context, absl::MakeConstSpan(call.inputs.data() + phase * call.input_count, call.input_count),
                         absl::MakeConstSpan(call.outputs.data() + phase * call.output_count, call.output_count));
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(call.where, ": ", status.message()));
    if (track_ == nullptr) continue;
    const int64_t end = trace::NowNs();
    track_->Add({first_name_ + static_cast<int32_t>(k), static_cast<int32_t>(act.micro_batch), act.step, begin, end});
    begin = end;
  }
  return absl::OkStatus();
}

OperationWork::OperationWork(const Site& site, const Place& place, const std::vector<int32_t>& inputs,
                             const std::vector<int32_t>& outputs, std::unique_ptr<collective::Operation> operation)
    : FencedWork(site), operation_(std::move(operation)), input_count_(inputs.size()), output_count_(outputs.size()) {
  std::vector<int32_t> operands = inputs;
  operands.insert(operands.end(), outputs.begin(), outputs.end());
  period_ = place.PeriodOf(site_.actor, operands);
  for (int64_t i = 0; i < period_; ++i) {
    for (int32_t b : inputs) inputs_.push_back(place.AddressOf(site_.actor, b, i));
    for (int32_t b : outputs) outputs_.push_back(place.AddressOf(site_.actor, b, i));
  }
}

absl::Status OperationWork::Do(const actor::Act& act) {
  const size_t phase = static_cast<size_t>(period_ == 1 ? 0 : act.micro_batch % period_);
  return operation_->Run(absl::MakeConstSpan(inputs_.data() + phase * input_count_, input_count_),
                         absl::MakeConstSpan(outputs_.data() + phase * output_count_, output_count_),
                         site_.stream->handle());
}

}  // namespace weft::executor
