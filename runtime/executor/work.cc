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

void KernelWork::Add(const RankPlace& place, const plan::Kernel& kernel, std::unique_ptr<Kernel> made,
                     std::string where) {
  calls_.push_back({std::move(made),
                    std::move(where),
                    {place, site_.actor, kernel.inputs()},
                    {place, site_.actor, kernel.outputs()}});
}

absl::Status KernelWork::Do(const actor::Act& act) {
  const RunContext context{.step = steady_ ? RunContext::kNoStep : act.step,
                           .micro_batch = act.micro_batch,
                           .seed = site_.seed,
                           .stream = site_.stream->handle()};
  int64_t begin = track_ == nullptr ? 0 : trace::NowNs();
  for (size_t k = 0; k < calls_.size(); ++k) {
    const Call& call = calls_[k];
    const absl::Status status =
        call.kernel->Run(context, call.inputs.Of(act.micro_batch), call.outputs.Of(act.micro_batch));
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(call.where, ": ", status.message()));
    if (track_ == nullptr) continue;
    const int64_t end = trace::NowNs();
    track_->Add({first_name_ + static_cast<int32_t>(k), static_cast<int32_t>(act.micro_batch), act.step, begin, end});
    begin = end;
  }
  return absl::OkStatus();
}

absl::Status OperationWork::Do(const actor::Act& act) {
  return operation_->Run(inputs_.Of(act.micro_batch), outputs_.Of(act.micro_batch), site_.stream->handle());
}

}  // namespace weft::executor
