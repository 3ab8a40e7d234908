#include "runtime/executor/work.h"

#include "absl/strings/str_cat.h"

namespace weft::executor {

absl::Status FencedWork::Run(const actor::ActIndex& act) {
  absl::Status status = context_.fences->Before(context_.actor, act.micro_batch, *context_.stream);
  if (!status.ok()) return status;
  const Graphs::Part part = context_.graphs->PartOf(context_.actor, act.micro_batch);
  if (part.graph == nullptr) {
    status = Do(act);
  } else if (part.first) {
    status = context_.stream->Replay(*part.graph);
  }
  if (status.ok()) status = context_.fences->After(context_.actor, act.micro_batch, *context_.stream);
  return status;
}

void KernelWork::Add(const RankPlace& place, const plan::Kernel& kernel, std::unique_ptr<Kernel> made,
                     std::string where) {
  calls_.push_back({std::move(made),
                    std::move(where),
                    &kernel,
                    {place, context_.actor, kernel.inputs()},
                    {place, context_.actor, kernel.outputs()}});
}

absl::Status KernelWork::Do(const actor::ActIndex& act) {
  if (arrived_ != nullptr) {
    absl::Status status = context_.stream->Record(*arrived_);
    if (status.ok()) status = arrived_->Synchronize();
    if (!status.ok()) return status;
  }
  const RunContext context{.step = steady_ ? RunContext::kNoStep : act.step,
                           .micro_batch = act.micro_batch,
                           .seed = context_.seed,
                           .stream = arrived_ == nullptr ? context_.stream->handle() : nullptr};
  int64_t begin = track_ == nullptr ? 0 : trace::NowNs();
  for (size_t k = 0; k < calls_.size(); ++k) {
    const Call& call = calls_[k];
    const auto inputs = call.inputs.Of(act.micro_batch);
    const auto outputs = call.outputs.Of(act.micro_batch);
    const absl::Status status =
        probe_ == nullptr
            ? call.kernel->Run(context, inputs, outputs)
            : probe_->Around({.actor = context_.actor,
                              .micro_batch = act.micro_batch,
                              .work = static_cast<int32_t>(k),
                              .reads = call.plan->inputs(),
                              .writes = call.plan->outputs(),
                              .inputs = inputs,
                              .outputs = outputs},
                             *context_.stream, [&] { return call.kernel->Run(context, inputs, outputs); });
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(call.where, ": ", status.message()));
    if (track_ == nullptr) continue;
    const int64_t end = trace::NowNs();
    track_->Add({first_name_ + static_cast<int32_t>(k), static_cast<int32_t>(act.micro_batch), act.step, begin, end});
    begin = end;
  }
  return absl::OkStatus();
}

absl::Status OperationWork::Do(const actor::ActIndex& act) {
  const auto inputs = inputs_.Of(act.micro_batch);
  const auto outputs = outputs_.Of(act.micro_batch);
  const auto run = [&] { return operation_->Run(inputs, outputs, context_.stream->handle()); };
  if (probe_ == nullptr) return run();
  return probe_->Around({.actor = context_.actor,
                         .micro_batch = act.micro_batch,
                         .reads = reads_,
                         .writes = writes_,
                         .inputs = inputs,
                         .outputs = outputs},
                        *context_.stream, run);
}

}  // namespace weft::executor
