#include "compiler/pipeline/variants.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "ops/abi/status_macros.h"

namespace weft::compiler {
namespace {

// What a phase says, without the op that says it, and without the hints of later lines.
absl::Status onOneLine(const absl::Status &status) {
  absl::string_view text = status.message();
  const size_t op = text.find("' op ");
  if (absl::ConsumePrefix(&text, "'") && op != text.npos) {
    text.remove_prefix(op + 4);
  }
  return absl::Status(status.code(), text.substr(0, text.find('\n')));
}

} // namespace

// The phases read these keys last. Candidates would find what jobs share by itself; but it keeps every module that it
// has seen, and jobs that share nothing else would fill the memory.
std::string sharedPart(const Job &job, const Cluster &cluster) {
  Job early = job;
  early.clear_zero();
  early.clear_recompute();
  early.mutable_graph()->clear_fusion();
  early.mutable_graph()->clear_fusion_limit();
  return absl::StrCat(MessageText(early), MessageText(cluster));
}

absl::StatusOr<plan::Plan> Variants::compile(const Job &job, const std::string &jobFile, const Cluster &cluster) {
  const Job located = LocateJob(job, jobFile);
  WEFT_RETURN_IF_ERROR(checkMicroBatches(located.batch()));
  WEFT_ASSIGN_OR_RETURN(ModelSource * source, read(located));
  const std::string shared = sharedPart(located, cluster);
  if (!candidates_ || shared != shared_) {
    candidates_.reset();
    cluster_ = std::make_unique<Cluster>(cluster);
    candidates_ = std::make_unique<Candidates>(source->module(), *cluster_);
    shared_ = shared;
  }
  absl::StatusOr<plan::Plan> plan = candidates_->planFor(located);
  if (!plan.ok()) {
    return onOneLine(plan.status());
  }
  Cluster boundless = cluster;
  boundless.mutable_device()->clear_memory_bytes();
  WEFT_RETURN_IF_ERROR(onOneLine(certify(located, boundless, candidates_.get(), *plan)));
  return plan;
}

absl::StatusOr<ModelSource *> Variants::read(const Job &job) {
  const std::string &path = job.model().file();
  auto [it, fresh] = sources_.try_emplace(path, absl::UnknownError(""));
  if (fresh) {
    it->second = ModelSource::read(job);
  }
  if (it->second.ok()) {
    return it->second->get();
  }
  const absl::Status &status = it->second.status();
  return status.message().empty() ? absl::Status(status.code(), absl::StrCat(path, ": does not parse")) : status;
}

} // namespace weft::compiler
