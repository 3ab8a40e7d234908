#include "tools/run/train.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checkpoint_reader.h"
#include "runtime/plan/names.h"
#include "runtime/trace/metrics.h"
#include "runtime/trace/progress.h"
#include "tools/run/cluster.h"
#include "tools/run/peak.h"
#include "tools/run/sources.h"
#include "tools/run/state.h"

namespace weft::run {
namespace {

constexpr int64_t kDefaultSteps = 100;

// The handler runs on any thread.
std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);
void Interrupt(int) { interrupted = true; }

// Catches interrupts while it lives; a second one ends the process.
class Interrupts {
 public:
  Interrupts() {
    interrupted = false;
    struct sigaction action = {};
    action.sa_handler = Interrupt;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGINT, &action, &old_[0]);
    sigaction(SIGTERM, &action, &old_[1]);
  }
  ~Interrupts() {
    sigaction(SIGINT, &old_[0], nullptr);
    sigaction(SIGTERM, &old_[1], nullptr);
  }

 private:
  struct sigaction old_[2];
};

int64_t StepsOf(const Context& context) {
  if (context.request.steps.has_value()) return *context.request.steps;
  const Schedule& schedule = context.plan.header().job().optimizer().schedule();
  if (schedule.has_warmup_cosine() && schedule.warmup_cosine().total() > 0) return schedule.warmup_cosine().total();
  if (schedule.has_warmup_linear() && schedule.warmup_linear().total() > 0) return schedule.warmup_linear().total();
  return kDefaultSteps;
}

// The checkpoint to go on from: none without --resume, or if there is none yet.
absl::StatusOr<std::unique_ptr<checkpoint::CheckpointReader>> FindResume(const Request& request) {
  if (!request.resume) return nullptr;
  auto reader = checkpoint::CheckpointReader::Open(request.checkpoint_dir);
  if (absl::IsNotFound(reader.status())) return nullptr;
  return reader;
}

class Trainer {
 public:
  explicit Trainer(const Context& context)
      : context_(context), request_(context.request), last_step_(StepsOf(context)) {}

  absl::Status Run() {
    absl::Status status = Load();
    if (!status.ok()) return status;
    const Interrupts interrupts;
    status = Loop();
    if (timeline_ != nullptr) {
      const absl::Status written = timeline_->Write(request_.trace);
      if (status.ok()) status = written;
    }
    return status;
  }

 private:
  absl::Status Load() {
    auto resume = FindResume(request_);
    if (!resume.ok()) return resume.status();
    seed_ = request_.seed.value_or(context_.plan.header().job().seed());
    if (*resume != nullptr) {
      step_ = (*resume)->manifest().step;
      if (request_.seed.has_value() && *request_.seed != (*resume)->manifest().seed) {
        return absl::InvalidArgumentError(absl::StrCat("--seed: expected that of the checkpoint, ",
                                                       (*resume)->manifest().seed, ", got ", *request_.seed));
      }
      seed_ = (*resume)->manifest().seed;
      resumed_ = saved_ = step_;
    }
    if (absl::Status status = OpenData(); !status.ok()) return status;
    timeline_ = TimelineFor(request_);
    auto cluster = StartCluster(context_, seed_, source_.get(), nullptr, timeline_.get());
    if (!cluster.ok()) return cluster.status();
    cluster_ = *std::move(cluster);
    if (absl::Status status = LoadState(resume->get()); !status.ok()) return status;
    return OpenReports(resume->get());
  }

  absl::Status OpenData() {
    if (request_.data.empty()) {
      const std::vector<InputInfo> inputs = InputsOf(context_.plan);
      if (inputs.empty()) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("--data: expected a file, as the plan reads `", inputs[0].name, "`, got none"));
    }
    auto source = OpenTokens(context_.plan, request_.data, seed_);
    if (source.ok()) source_ = *std::move(source);
    return source.status();
  }

  absl::Status LoadState(checkpoint::CheckpointReader* resume) {
    if (resume != nullptr) return LoadCheckpoint(*cluster_, *resume);
    if (request_.init.empty()) return absl::OkStatus();
    const auto& prefixes = context_.plan.header().job().checkpoint().prefixes();
    return LoadParameters(*cluster_, request_.init, {prefixes.begin(), prefixes.end()});
  }

  absl::Status OpenReports(checkpoint::CheckpointReader* resume) {
    if (!request_.metrics.empty()) {
      auto writer = trace::MetricsWriter::Open(request_.metrics, step_);
      if (!writer.ok()) return writer.status();
      metrics_ = *std::move(writer);
    }
    if (!request_.quiet) {
      const plan::Placement& placement = context_.plan.placements(context_.plan.stages(0).placement());
      std::fprintf(context_.err, "%s: %d rank%s (%s), %d thread%s a rank, %s planned\n",
                   context_.plan.header().graph().c_str(), cluster_->size(), cluster_->size() == 1 ? "" : "s",
                   plan::MeshText(placement).c_str(), ThreadsOf(context_), ThreadsOf(context_) == 1 ? "" : "s",
                   plan::BytesText(ArenaBytesOf(context_.plan)).c_str());
      if (resume != nullptr)
        std::fprintf(context_.err, "resuming at step %lld from %s\n", static_cast<long long>(step_),
                     resume->path().c_str());
      if (resume == nullptr && request_.resume)
        std::fprintf(context_.err, "no checkpoint in %s yet: starting at step 0\n", request_.checkpoint_dir.c_str());
      if (resume != nullptr && step_ >= last_step_)
        std::fprintf(context_.err, "nothing to do: %lld steps are done, --steps asks for %lld\n",
                     static_cast<long long>(step_), static_cast<long long>(last_step_));
      progress_ = std::make_unique<trace::Progress>(context_.err, isatty(fileno(context_.err)) == 1, step_, last_step_);
    }
    if (metrics_ != nullptr || progress_ != nullptr) {
      const bool bf16 = context_.plan.header().job().precision().compute() == BF16;
      peak_ = MeasurePeak(context_.kernels, bf16 ? DType::kBF16 : DType::kF32, CoresOf(context_));
    }
    return absl::OkStatus();
  }

  absl::Status Loop() {
    const int64_t first = step_;
    const int64_t begin = trace::NowNs();
    int64_t before = begin;
    while (step_ < last_step_ && !interrupted) {
      if (absl::Status status = cluster_->Step(step_); !status.ok()) return status;
      const int64_t now = trace::NowNs();
      const trace::StepMetrics metrics = MetricsOf((now - before) * 1e-9);
      if (absl::Status status = Report(metrics, (now - begin) * 1e-9); !status.ok()) return status;
      if (absl::Status status = CheckFinite(metrics); !status.ok()) return status;
      before = now;
      ++step_;
      if (request_.checkpoint_every > 0 && step_ % request_.checkpoint_every == 0) {
        if (absl::Status status = Save(); !status.ok()) return status;
        before = trace::NowNs();
      }
    }
    progress_.reset();
    if (absl::Status status = Save(); !status.ok()) return status;
    if (!request_.quiet) Summarise(step_ - first, (before - begin) * 1e-9);
    if (!interrupted) return absl::OkStatus();
    return absl::CancelledError(
        absl::StrCat("interrupted after step ", step_, saved_ == step_ ? ", which was saved" : ""));
  }

  std::optional<float> MetricOf(const char* name) {
    const absl::StatusOr<float> value = cluster_->Metric(name);
    return value.ok() ? std::optional<float>(*value) : std::nullopt;
  }

  trace::StepMetrics MetricsOf(double step_s) {
    trace::StepMetrics metrics{
        .step = step_, .loss = MetricOf("loss"), .grad_norm = MetricOf("grad_norm"), .lr = MetricOf("lr")};
    metrics.tokens = context_.plan.header().tokens_per_step();
    metrics.tokens_per_s = static_cast<double>(metrics.tokens) / step_s;
    const double flops = context_.plan.header().flops_per_step() / step_s;
    metrics.tflops = flops * 1e-12;
    if (peak_.has_value()) metrics.mfu = flops / *peak_;
    metrics.memory_bytes = PeakResidentBytes();
    return metrics;
  }

  absl::Status Report(const trace::StepMetrics& metrics, double elapsed_s) {
    if (progress_ != nullptr) progress_->Show(metrics, elapsed_s);
    return metrics_ != nullptr ? metrics_->Write(metrics) : absl::OkStatus();
  }

  // The step has updated the state with them: from here on it is spoilt.
  absl::Status CheckFinite(const trace::StepMetrics& metrics) const {
    if (request_.allow_nonfinite) return absl::OkStatus();
    for (const auto& [name, value] : {std::pair("loss", metrics.loss), std::pair("grad_norm", metrics.grad_norm)}) {
      if (!value.has_value() || std::isfinite(*value)) continue;
      return Diverged(absl::StrCat("step ", step_, ": ", name, ": expected a finite number, got ", *value));
    }
    return absl::OkStatus();
  }

  absl::Status Diverged(const std::string& what) const {
    const std::string saved = saved_ >= 0 ? absl::StrCat("step ", saved_, " was saved last") : "nothing was saved";
    return absl::AbortedError(absl::StrCat(what, "; ", saved, " (--allow-nonfinite goes on)"));
  }

  // Saves once a step; the initial state only if no step is asked for.
  absl::Status Save() {
    if (request_.checkpoint_dir.empty() || saved_ == step_ || (step_ == 0 && last_step_ > 0)) return absl::OkStatus();
    const absl::Status status = SaveCheckpoint(
        *cluster_, context_.plan, request_.allow_nonfinite,
        {.folder = request_.checkpoint_dir, .step = step_, .seed = seed_, .keep_last = request_.checkpoint_keep});
    if (absl::IsAborted(status)) {
      return Diverged(absl::StrCat("step ", step_, " cannot be saved: ", status.message()));
    }
    if (status.ok()) saved_ = step_;
    return status;
  }

  void Summarise(int64_t steps, double seconds) {
    std::fprintf(context_.err, "%lld step%s in %s; memory %s resident, of which the plan %s\n",
                 static_cast<long long>(steps), steps == 1 ? "" : "s", plan::SecondsText(seconds).c_str(),
                 plan::BytesText(PeakResidentBytes()).c_str(), plan::BytesText(ArenaBytesOf(context_.plan)).c_str());
    if (saved_ == step_ && saved_ != resumed_)
      std::fprintf(context_.err, "saved step %lld in %s\n", static_cast<long long>(step_),
                   request_.checkpoint_dir.c_str());
  }

  const Context context_;
  const Request& request_;
  const int64_t last_step_;
  int64_t step_ = 0;    // steps that are done
  int64_t saved_ = -1;  // of the last checkpoint
  int64_t resumed_ = -1;
  uint64_t seed_ = 0;
  std::optional<double> peak_;
  // In the order in which they need each other.
  std::unique_ptr<executor::BatchSource> source_;
  std::unique_ptr<trace::Timeline> timeline_;
  std::unique_ptr<executor::LocalCluster> cluster_;
  std::unique_ptr<trace::MetricsWriter> metrics_;
  std::unique_ptr<trace::Progress> progress_;
};

}  // namespace

absl::Status Train(const Context& context) { return Trainer(context).Run(); }

}  // namespace weft::run
