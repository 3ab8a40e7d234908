#include "tools/run/evaluate_data.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/plan/enums.h"
#include "runtime/plan/names.h"
#include "runtime/trace/metrics.h"
#include "runtime/trace/progress.h"
#include "tools/run/cluster.h"
#include "tools/run/init.h"
#include "tools/run/inputs.h"
#include "tools/run/memory.h"
#include "tools/run/record.h"
#include "tools/run/sample_results.h"
#include "tools/run/sources.h"

namespace weft::run {
namespace {

class Evaluator {
 public:
  explicit Evaluator(const Context& context)
      : context_(context), request_(context.request), processes_(context.processes) {}

  // All processes, with one outcome.
  absl::Status Run() {
    if (absl::Status status = Load(); !status.ok()) return status;
    const absl::Status stepped = Loop();
    if (timeline_ != nullptr) {
      const absl::Status written = WriteTimeline(context_, *timeline_, !stepped.ok());
      if (stepped.ok() && !written.ok()) return written;
    }
    if (!stepped.ok()) return stepped;
    if (file_ != nullptr) {
      if (absl::Status status = file_->Commit(absl::OkStatus()); !status.ok()) return status;
    }
    return Report();
  }

 private:
  absl::Status Load() {
    const uint64_t seed = request_.seed.value_or(context_.plan.header().job().seed());
    absl::StatusOr<OpenedData> data = OpenData(context_.plan, request_.data, {.once = true});
    if (absl::Status status = processes_.Agree(data.status()); !status.ok()) return status;
    data_ = *std::move(data);
    if (absl::Status status = CheckSameData(processes_, data_); !status.ok()) return status;
    const std::vector<InputInfo> outputs = OutputsOf(context_.plan);
    if (absl::Status status = CheckOutputs(outputs); !status.ok()) return status;
    const absl::StatusOr<InitialParameters> init = InitialParameters::Open(context_);
    if (!init.ok()) return init.status();
    if (!request_.outputs.empty()) {
      auto file = OutputFile::Create(processes_, request_.outputs, TensorsOf(outputs));
      if (!file.ok()) return file.status();
      file_ = *std::move(file);
    }
    results_ = std::make_unique<SampleResults>(outputs, data_.samples, data_.batch, file_.get());
    auto timeline = TimelineFor(context_);
    if (!timeline.ok()) return timeline.status();
    timeline_ = *std::move(timeline);
    auto cluster = StartCluster(context_, seed, data_.source.get(), results_.get(), timeline_.get(), init->loaded());
    if (!cluster.ok()) return cluster.status();
    cluster_ = *std::move(cluster);
    if (absl::Status status = init->Load(context_, *cluster_); !status.ok()) return status;
    context_.Tell(absl::StrCat(context_.plan.header().graph(), ": ", plan::RanksAndMeshText(context_.plan)));
    context_.Tell(data_.text);
    context_.Tell(request_.init.empty() ? "no --init: the parameters have their initial values" : init->text());
    return absl::OkStatus();
  }

  // Every process finds the same.
  absl::Status CheckOutputs(const std::vector<InputInfo>& outputs) const {
    bool numbers = false;
    for (const InputInfo& output : outputs) {
      if (absl::Status status = SampleResults::Check(output, data_.batch); !status.ok())
        return processes_.Agree(status);
      numbers |= SampleResults::IsNumber(output);
    }
    if (numbers || !request_.outputs.empty()) return absl::OkStatus();
    return processes_.Agree(absl::InvalidArgumentError(absl::StrCat(
        "--outputs: expected a file, as no output is one number a sample, [", data_.batch, "], whose mean is shown")));
  }

  std::vector<checkpoint::TensorInfo> TensorsOf(const std::vector<InputInfo>& outputs) const {
    std::vector<checkpoint::TensorInfo> tensors;
    for (const InputInfo& output : outputs) {
      tensors.push_back({output.name, plan::TypeOf(output.dtype), output.shape});
      tensors.back().shape[0] = data_.samples;
    }
    return tensors;
  }

  absl::Status Loop() {
    const int64_t steps = StepsFor(data_.samples, data_.batch);
    trace::Progress progress(context_.err, isatty(fileno(context_.err)) == 1, 0, steps);
    const int64_t begin = trace::NowNs();
    for (int64_t step = 0; step < steps; ++step) {
      if (absl::Status status = cluster_->Step(step); !status.ok()) return status;
      if (request_.quiet || !processes_.first()) continue;
      const double seconds = static_cast<double>(trace::NowNs() - begin) * 1e-9;
      const double rate = static_cast<double>(step + 1) / seconds;
      progress.Show({.step = step + 1,
                     .tokens_per_s = rate * static_cast<double>(context_.plan.header().tokens_per_step()),
                     .tflops = rate * context_.plan.header().flops_per_step() * 1e-12,
                     .memory_bytes = PeakResidentBytes()},
                    seconds);
    }
    return absl::OkStatus();
  }

  // What the samples come to.
  absl::Status Report() {
    auto means = results_->Means(processes_);
    if (!means.ok()) return processes_.Agree(means.status());
    const trace::EvaluationMetrics metrics{data_.samples, *std::move(means)};
    return processes_.Agree(processes_.first() ? Show(metrics) : absl::OkStatus());
  }

  absl::Status Show(const trace::EvaluationMetrics& metrics) const {
    if (!request_.metrics.empty()) {
      Record record = RecordOf(context_.plan);
      record.insert(data_.record.begin(), data_.record.end());
      if (!request_.init.empty()) record["init"] = request_.init;
      auto writer = trace::MetricsWriter::Open(request_.metrics, 0, record);
      if (!writer.ok()) return writer.status();
      if (absl::Status status = (*writer)->Write(metrics); !status.ok()) return status;
    }
    if (request_.quiet) return absl::OkStatus();
    size_t width = 0;
    for (const auto& [name, mean] : metrics.means) width = std::max(width, name.size());
    std::fprintf(context_.out, "%s samples\n", plan::CountText(metrics.samples).c_str());
    for (const auto& [name, mean] : metrics.means) {
      std::fprintf(context_.out, "%-*s  %.6g\n", static_cast<int>(width), name.c_str(), mean);
    }
    return absl::OkStatus();
  }

  const Context context_;
  const Request& request_;
  Processes& processes_;
  // In the order in which they need each other.
  OpenedData data_;
  std::unique_ptr<OutputFile> file_;
  std::unique_ptr<SampleResults> results_;
  std::unique_ptr<trace::Timeline> timeline_;
  std::unique_ptr<executor::Cluster> cluster_;
};

}  // namespace

absl::Status EvaluateData(const Context& context) { return Evaluator(context).Run(); }

}  // namespace weft::run
