#include "tools/run/evaluations.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/plan/names.h"
#include "tools/run/inputs.h"

namespace weft::run {
namespace {

absl::Status Wrong(const char* flag, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat(flag, ": ", what));
}

// What --eval-data means is said as of --data.
absl::Status OfEvaluation(const absl::Status& status) {
  absl::string_view message = status.message();
  const bool of_data = absl::ConsumePrefix(&message, "--data: ");
  return absl::Status(status.code(), absl::StrCat(of_data ? "--eval-data: " : "", message));
}

// What a request may ask for has a plan that can do it.
absl::Status CheckUse(const Context& context) {
  const Request& request = context.request;
  const bool has_data = !request.eval_data.empty();
  const auto no_evaluation = [&](const char* flag) {
    return Wrong(flag, "expected a plan of a job with evaluation.graph, got one without");
  };
  if (has_data && !context.plan.has_evaluation()) return no_evaluation("--eval-data");
  if (has_data && context.plan.header().job().evaluation().metric().empty()) {
    for (const auto& [flag, is_set] :
         {std::pair("--stop-at", request.stop_at.has_value()), {"--patience", request.patience.has_value()}}) {
      if (is_set) return Wrong(flag, "expected a plan of a job with evaluation.metric, got one without");
    }
  }
  return absl::OkStatus();
}

}  // namespace

Evaluations::Evaluations(const Context& context, int64_t last_step)
    : context_(context.With(context.plan.evaluation())),
      asked_(context.plan.header().job().evaluation()),
      last_step_(last_step),
      every_(context.request.eval_every.value_or(asked_.every())),
      beside_{.context = context_} {
  const Request& request = context.request;
  rule_.metric = asked_.metric();
  rule_.largest = asked_.best() == Evaluation::MAX;
  if (asked_.has_stop_at()) rule_.stop_at = asked_.stop_at();
  if (request.stop_at.has_value()) rule_.stop_at = request.stop_at;
  rule_.patience = request.patience.value_or(asked_.patience());
}

absl::StatusOr<std::unique_ptr<Evaluations>> Evaluations::Open(const Context& context, const OpenedData& training,
                                                               int64_t last_step) {
  absl::Status status = CheckUse(context);
  if (!status.ok()) return context.processes.Agree(status);
  if (context.request.eval_data.empty()) return nullptr;
  std::unique_ptr<Evaluations> evaluations(new Evaluations(context, last_step));
  status = context.processes.Agree(OfEvaluation(evaluations->OpenData(training)));
  if (!status.ok()) return status;
  status = CheckSameData(context.processes, evaluations->data_);
  if (!status.ok()) return OfEvaluation(status);
  return evaluations;
}

absl::Status Evaluations::OpenData(const OpenedData& training) {
  const int64_t batches = context_.request.eval_batches.value_or(asked_.batches());
  absl::StatusOr<OpenedData> data =
      run::OpenData(context_.plan, context_.request.eval_data, {.steps = batches, .once = true});
  if (!data.ok()) return data.status();
  data_ = *std::move(data);
  const int64_t there = StepsFor(data_.samples, data_.batch);
  if (batches > there) {
    return Wrong("--eval-batches",
                 absl::StrCat("expected at most ", plan::CountText(there), " of ", data_.batch, ", as ",
                              context_.request.eval_data, " has ", plan::CountText(data_.samples), " samples, got ",
                              plan::CountText(batches)));
  }
  samples_ = batches == 0 ? data_.samples : std::min(data_.samples, batches * data_.batch);
  epoch_samples_ = training.samples;
  step_samples_ = training.batch;
  if (every_ == 0 && step_samples_ == 0)
    return Wrong("--eval-every", "expected, as a training without data has no epochs");
  const std::vector<InputInfo> outputs = OutputsOf(context_.plan);
  for (const InputInfo& output : outputs) {
    if (absl::Status status = SampleResults::Check(output, data_.batch); !status.ok()) return status;
  }
  results_ = std::make_unique<SampleResults>(outputs, samples_, data_.batch, nullptr);
  beside_.source = data_.source.get();
  beside_.sink = results_.get();
  for (const auto& [key, value] : data_.record) record_["eval_" + key] = value;
  const std::string& graph = context_.plan.header().graph();
  rule_.of = absl::StrCat(graph, " ", rule_.metric, rule_.largest ? " MAX" : " MIN", " of ", samples_,
                          " samples, hash ", data_.record.at("data_hash"));
  text_ = absl::StrCat(graph, " ", WhenText(), ": ", data_.text);
  return absl::OkStatus();
}

std::string Evaluations::WhenText() const {
  if (every_ == 0) return "after every epoch";
  return every_ == 1 ? "after every step" : absl::StrCat("after every ", plan::CountText(every_), " steps");
}

bool Evaluations::IsAfter(int64_t steps) const {
  if (steps == last_step_) return true;
  if (every_ > 0) return steps % every_ == 0;
  return steps * step_samples_ / epoch_samples_ > (steps - 1) * step_samples_ / epoch_samples_;
}

absl::StatusOr<std::vector<std::pair<std::string, double>>> Evaluations::Run() {
  const int64_t steps = StepsFor(samples_, data_.batch);
  for (int64_t step = 0; step < steps; ++step) {
    if (absl::Status status = beside_.cluster->Step(step); !status.ok()) return status;
  }
  auto means = results_->Means(context_.processes);
  if (absl::Status status = context_.processes.Agree(means.status()); !status.ok()) return status;
  return means;
}

}  // namespace weft::run
