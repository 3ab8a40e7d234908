#include "tools/run/train.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/directory.h"
#include "runtime/checkpoint/host_and_time.h"
#include "runtime/plan/names.h"
#include "runtime/plan/stored.h"
#include "runtime/trace/metrics.h"
#include "runtime/trace/progress.h"
#include "runtime/trace/tensorboard.h"
#include "tools/hugging_face/folder.h"
#include "tools/run/best.h"
#include "tools/run/cluster.h"
#include "tools/run/debug_nan.h"
#include "tools/run/due_times.h"
#include "tools/run/evaluations.h"
#include "tools/run/found_snapshots.h"
#include "tools/run/init.h"
#include "tools/run/inputs.h"
#include "tools/run/interrupts.h"
#include "tools/run/load_snapshots.h"
#include "tools/run/memory.h"
#include "tools/run/page.h"
#include "tools/run/record.h"
#include "tools/run/replicas.h"
#include "tools/run/resume.h"
#include "tools/run/saver.h"
#include "tools/run/slow_ranks.h"
#include "tools/run/snapshots.h"
#include "tools/run/sources.h"
#include "tools/run/state.h"
#include "tools/run/step_word.h"
#include "tools/run/steps.h"

namespace weft::run {
namespace {

constexpr int64_t kDefaultSteps = 100;
constexpr Interval kSlowRanksEvery = {.seconds = 300};

int64_t StepsOf(const Context& context) {
  if (context.request.steps.has_value()) return *context.request.steps;
  const RateSchedule& schedule = context.plan.header().job().optimizer().schedule();
  int64_t total = 0;  // of a schedule that has an end
  if (schedule.has_warmup_cosine()) total = schedule.warmup_cosine().total();
  if (schedule.has_warmup_linear()) total = schedule.warmup_linear().total();
  if (schedule.has_polynomial()) total = schedule.polynomial().total();
  if (schedule.has_warmup_stable_decay()) total = schedule.warmup_stable_decay().total();
  return total > 0 ? total : kDefaultSteps;
}

class Trainer {
 public:
  explicit Trainer(const Context& context)
      : context_(context),
        request_(context.request),
        processes_(context.processes),
        last_step_(StepsOf(context)),
        save_times_(context.request.checkpoint_every, 0),
        snapshot_times_(context.request.snapshot_every, 0),
        slow_times_(context.request.slow_ranks_every.value_or(kSlowRanksEvery), 0),
        replica_times_(context.request.compare_replicas_every, 0) {}

  ~Trainer() {
    if (evaluations_ != nullptr) evaluations_->beside().cluster.reset();  // before that of the training
  }

  absl::Status Run() {
    std::optional<Interrupts> interrupts;
    if (processes_.alone()) interrupts.emplace(false);  // else they are caught since the start
    if (absl::Status status = Load(); !status.ok()) return status;
    absl::Status trained = Loop();
    if (page_ != nullptr) {
      const absl::Status written = page_->Write();
      if (trained.ok()) trained = written;
    }
    if (timeline_ != nullptr) {
      const absl::Status written = WriteTimeline(context_, *timeline_, !trained.ok());
      if (trained.ok()) return written;
    }
    return trained;
  }

 private:
  uint64_t AskedSeed() const { return request_.seed.value_or(context_.plan.header().job().seed()); }

  // All processes, with one outcome.
  absl::Status Load() {
    std::vector<std::string> snapshots;  // the folders of those of before
    auto resume = Find(snapshots);
    if (!resume.ok()) return resume.status();
    seed_ = AskedSeed();
    if (*resume != nullptr) {
      step_ = (*resume)->step;
      if (request_.seed.has_value() && *request_.seed != (*resume)->seed) {
        return absl::InvalidArgumentError(absl::StrCat("--seed: expected that of the ", (*resume)->kind(), ", ",
                                                       (*resume)->seed, ", got ", *request_.seed));
      }
      seed_ = (*resume)->seed;
      from_snapshots_ = (*resume)->snapshots.has_value();
      resumed_ = saved_ = checkpoint::StepOfPath((*resume)->last_checkpoint);
    }
    if (const Precision& precision = context_.plan.header().job().precision();
        step_ == 0 && precision.has_loss_scale()) {
      loss_scale_ = static_cast<float>(precision.loss_scale().initial());
    }
    if (absl::Status status = processes_.Agree(OpenData()); !status.ok()) return status;
    auto evaluations = Evaluations::Open(context_, data_, last_step_);
    if (!evaluations.ok()) return evaluations.status();
    evaluations_ = *std::move(evaluations);
    if (absl::Status status = Compare(resume->get()); !status.ok()) return status;
    auto timeline = TimelineFor(context_);
    if (!timeline.ok()) return timeline.status();
    timeline_ = *std::move(timeline);
    // What it takes to measure is not counted as the plan's.
    if (processes_.first() && (!request_.metrics.empty() || !request_.tensorboard.empty() || !request_.quiet)) {
      const Compute compute = context_.plan.header().job().precision().compute();
      peak_ = PeakOf(context_, compute == BF16 ? DType::kBF16 : compute == F16 ? DType::kF16 : DType::kF32);
    }
    growth_.emplace();
    auto cluster = StartCluster(context_, seed_, data_.source.get(), nullptr, timeline_.get(), Loaded(resume->get()),
                                {}, evaluations_ == nullptr ? nullptr : &evaluations_->beside());
    if (!cluster.ok()) return cluster.status();
    cluster_ = *std::move(cluster);
    saver_ = std::make_unique<Saver>(context_, *cluster_);
    RankMemory own = MemoryOf(context_, *cluster_);
    if (SavesOnTheWay()) {
      if (absl::Status status = saver_->Prepare(own); !status.ok()) return status;
      own.copy = saver_->bytes();
      notes_.push_back(saver_->note());
    }
    snapshots_ = std::make_unique<Snapshots>(context_, *cluster_, std::move(snapshots));
    if (absl::Status status = snapshots_->Prepare(own, record_, from_snapshots_); !status.ok()) return status;
    own.snapshots = snapshots_->bytes();
    notes_.push_back(snapshots_->Text());
    auto memory = GatherMemory(processes_, own);
    if (!memory.ok()) return memory.status();
    for (const RankMemory& rank : *memory) {
      beside_bytes_.staging += rank.staging;
      beside_bytes_.workspaces += rank.workspaces;
      beside_bytes_.copy += rank.copy;
      beside_bytes_.snapshots += rank.snapshots;
    }
    if (absl::Status status = LoadState(resume->get()); !status.ok()) return status;
    if (request_.debug_nan) {
      nan_ = std::make_unique<DebugNan>(context_, *cluster_);
      if (absl::Status status = nan_->CheckState(); !status.ok()) {
        return absl::AbortedError(absl::StrCat("before step ", step_ + 1, ": ", status.message()));
      }
    }
    return processes_.Agree(processes_.first() ? OpenReports(resume->get()) : absl::OkStatus());
  }

  // What the run goes on from, null for nothing.
  absl::StatusOr<std::unique_ptr<ResumePoint>> Find(std::vector<std::string>& folders) {
    if (request_.checkpoint_dir.empty()) return nullptr;
    const auto tell = [&](const std::string& line) {  // with --quiet too
      if (processes_.first()) std::fprintf(context_.err, "%s\n", line.c_str());
    };
    absl::StatusOr<FoundSnapshots> found = FindSnapshots(context_, tell);
    if (!found.ok()) return found.status();
    folders = found->folders;
    return FindResume(context_, *std::move(found), tell);
  }

  absl::Status OpenData() {
    if (request_.data.empty()) {
      const std::vector<InputInfo> inputs = InputsOf(context_.plan);
      if (inputs.empty()) return absl::OkStatus();
      return absl::InvalidArgumentError(
          absl::StrCat("--data: expected a file, as the plan reads `", inputs[0].name, "`, got none"));
    }
    auto data =
        run::OpenData(context_.plan, request_.data, {.seed = seed_, .steps = std::max<int64_t>(last_step_ - step_, 0)});
    if (data.ok()) data_ = *std::move(data);
    return data.status();
  }

  // What all processes read, and what a run reads that goes on, with each other and with before.
  absl::Status Compare(const ResumePoint* resume) {
    absl::Status status = CheckSameData(processes_, data_);
    if (!status.ok()) return status;
    record_ = RecordOf(context_.plan);
    record_.insert(data_.record.begin(), data_.record.end());
    if (evaluations_ != nullptr) {
      record_.insert(evaluations_->record().begin(), evaluations_->record().end());
      best_.emplace(evaluations_->rule());
    }
    if (resume == nullptr || resume->last_checkpoint.empty()) {
      absl::StatusOr<InitialParameters> init = InitialParameters::Open(context_);
      if (!init.ok()) return init.status();
      init_ = *std::move(init);
    }
    beside_ = init_.companions();
    if (resume != nullptr && !resume->last_checkpoint.empty() && processes_.first()) {
      auto before = hugging_face::ReadCompanions(resume->last_checkpoint);
      if (before.ok()) {
        beside_ = *std::move(before);
      } else {
        status = before.status();
      }
    }
    if (status = processes_.Agree(status); !status.ok()) return status;
    absl::StatusOr<std::string> changed = "";
    if (resume != nullptr) changed = CheckChanges(*resume, record_, AskedSeed(), request_);
    if (status = processes_.Agree(changed.status()); !status.ok()) return status;
    notes_ = {data_.text, TextOfEvaluations(), resume == nullptr ? init_.text() : "", *changed};
    return resume != nullptr && best_.has_value() ? TakeUpBest(*resume) : status;
  }

  std::string TextOfEvaluations() const {
    if (evaluations_ != nullptr) return evaluations_->text();
    if (!context_.plan.has_evaluation()) return "";
    return absl::StrCat("no --eval-data: ", context_.plan.evaluation().header().graph(), " is not evaluated");
  }

  // What was the best when that was saved, if that is still there.
  absl::Status TakeUpBest(const ResumePoint& resume) {
    const bool same = best_->Read(resume.record);
    absl::Status status;
    int64_t there = 1;
    if (processes_.first() && same && best_->step() >= 0) {
      there = checkpoint::HasCheckpoint(request_.checkpoint_dir, best_->step());
      if (there != 0) status = checkpoint::SetBest(request_.checkpoint_dir, best_->step());
    }
    const auto all = processes_.AllGather(absl::StrCat(there));
    if (!all.ok()) return all.status();
    if (!same || (*all)[0] == "0") {
      best_.emplace(evaluations_->rule());
      if (!evaluations_->rule().metric.empty())
        notes_.push_back("no evaluation of before counts: the best begins anew");
    }
    return processes_.Agree(status);
  }

  // The parameters that LoadState() fills.
  std::set<std::string> Loaded(const ResumePoint* resume) const {
    if (resume == nullptr) return init_.loaded();
    std::set<std::string> names;
    for (const auto& [name, shape] : plan::StoredParametersOf(context_.plan)) names.insert(name);
    return names;
  }

  absl::Status LoadState(ResumePoint* resume) {
    if (resume == nullptr) return init_.Load(context_, *cluster_);
    if (resume->snapshots.has_value()) return LoadSnapshots(context_, *cluster_, *resume->snapshots);
    return LoadCheckpoint(context_, *cluster_, *resume->checkpoint);
  }

  static std::string TextOf(const trace::Restart& restart) {
    const int64_t again = restart.again.value_or(0);
    return absl::StrCat(
        "restarted after step ", restart.step,
        again == 0   ? ""
        : again == 1 ? absl::StrCat("; step ", restart.step + 1, " is done again")
                     : absl::StrCat("; steps ", restart.step + 1, " to ", restart.step + again, " are done again"),
        ", as ", restart.reason);
  }

  absl::Status OpenReports(const ResumePoint* resume) {
    trace::Restart restart{.step = step_, .reason = request_.restarted};
    if (!request_.metrics.empty()) {
      Record about = record_;  // no checkpoint depends on where the run would have ended
      about["steps"] = absl::StrCat(last_step_);
      const std::optional<int64_t> last = trace::LastStep(request_.metrics);
      auto writer = trace::MetricsWriter::Open(request_.metrics, step_, about);
      if (!writer.ok()) return writer.status();
      metrics_ = *std::move(writer);
      if (last.has_value()) restart.again = std::max<int64_t>(0, *last - step_);
    }
    if (!request_.restarted.empty()) {  // with --quiet too
      std::fprintf(context_.err, "%s\n", TextOf(restart).c_str());
      if (metrics_ != nullptr) {
        if (absl::Status status = metrics_->Write(restart); !status.ok()) return status;
      }
    }
    if (!request_.report.empty()) {
      auto page = RunPage::Create(context_.plan, request_.plan, request_.report, last_step_);
      if (!page.ok()) return page.status();
      page_ = *std::move(page);
    }
    if (!request_.tensorboard.empty()) {
      auto board = trace::TensorBoardWriter::Open(request_.tensorboard, checkpoint::HostName(), std::time(nullptr));
      if (!board.ok()) return board.status();
      board_ = *std::move(board);
    }
    if (!request_.quiet) {
      context_.Tell(TextOfRun());
      std::fprintf(context_.err, "%s: %s%s, %d thread%s a rank, %s planned%s\n", context_.plan.header().graph().c_str(),
                   plan::RanksAndMeshText(context_.plan).c_str(), processes_.alone() ? "" : ", a process each",
                   ThreadsOf(context_), ThreadsOf(context_) == 1 ? "" : "s",
                   plan::BytesText(ArenaBytesOf(context_.plan)).c_str(), TextBeside(beside_bytes_).c_str());
      context_.Tell(TextOfGraphs(context_, *cluster_));
      context_.Tell(TextOfTiers(context_, *cluster_));
      for (const std::string& note : notes_) context_.Tell(note);
      if (resume != nullptr) context_.Tell(absl::StrCat("resuming after step ", step_, " from ", resume->path));
      if (resume == nullptr && request_.resume)
        context_.Tell(absl::StrCat("no checkpoint in ", request_.checkpoint_dir, " yet: starting at step 1"));
      if (resume != nullptr && step_ >= last_step_)
        context_.Tell(absl::StrCat("nothing to do: ", step_, " steps are done, --steps asks for ", last_step_));
      if (const std::string end = End(); !end.empty()) context_.Tell("nothing to do: " + end);
      progress_ = std::make_unique<trace::Progress>(context_.err, isatty(fileno(context_.err)) == 1, step_, last_step_,
                                                    2.0, request_.log_every);
    }
    return absl::OkStatus();
  }

  // What is run, by its names: plan, model, host, data.
  std::string TextOfRun() const {
    const plan::Header& header = context_.plan.header();
    const std::string& model = header.job().model().file();
    return absl::StrCat(request_.plan, " (", record_.at("plan"), "): ", header.graph(),
                        model.empty() ? "" : absl::StrCat(" of ", model), " on ", record_.at("host"),
                        request_.data.empty() ? "" : absl::StrCat(", data ", request_.data));
  }

  absl::Status Loop() {
    const int64_t first = step_;
    const int64_t begin = trace::NowNs();
    int64_t before = begin, now = begin;
    StepWord own;
    bool ahead = false;  // the next step may have begun
    for (DueTimes* times : {&save_times_, &snapshot_times_, &slow_times_, &replica_times_}) times->Begin(begin);
    if (SlowRanks slow(context_.plan, first); context_.device == nullptr && slow.compares()) {
      slow_.emplace(std::move(slow));
      busy_.emplace(*cluster_);
    }
    if (from_snapshots_ && !request_.snapshot_every.none() && first < last_step_ &&
        End().empty()) {  // which have lost a host, or are on others
      if (absl::Status status = TakeSnapshot(); !status.ok()) return status;
    }
    const absl::Status done =
        RunSteps(first, End().empty() ? last_step_ : first,
                 {.begin =
                      [&](int64_t step) {
                        if (nan_ != nullptr) nan_->Keep(step);
                        cluster_->Begin(step);
                      },
                  .end = [&] { return cluster_->End(); },
                  .take = [&](int64_t step) -> absl::StatusOr<bool> {
                    now = trace::NowNs();
                    if (step == first + 1) context_.Tell(TextOfUnrecorded(*cluster_));
                    own = OwnWord(now);
                    return ahead = BeginsAhead(own);
                  },
                  .report = [&](int64_t) -> absl::StatusOr<bool> {
                    absl::StatusOr<StepWord> word = Exchange(processes_, own);
                    if (!word.ok()) return word.status();
                    if (absl::Status status = Note(saver_->Advance(word->at_rest)); !status.ok()) return status;
                    if (absl::Status status = Note(snapshots_->Advance(word->snapshot_done)); !status.ok())
                      return status;
                    stop_ = std::max(stop_, word->stop);
                    const int64_t at_rest = word->step + (ahead ? 1 : 0);
                    if (word->save) save_times_.Ask(at_rest);
                    if (word->snapshot) snapshot_times_.Ask(at_rest);
                    if (word->slow_ranks) slow_times_.Ask(at_rest);
                    if (word->replicas) replica_times_.Ask(at_rest);
                    trace::StepMetrics metrics = MetricsOf(*word, static_cast<double>(now - before) * 1e-9);
                    // All have the same numbers, and so the same verdict.
                    const absl::Status finite = CheckFinite(metrics);
                    const bool evaluates = finite.ok() && EvaluatesAfter(metrics.step);
                    if (evaluates) {
                      auto found = evaluations_->Run();
                      if (!found.ok()) return found.status();
                      metrics.evaluation = *std::move(found);
                    }
                    if (absl::Status status = Report(metrics, static_cast<double>(now - begin) * 1e-9); !status.ok()) {
                      return status;
                    }
                    if (!finite.ok()) return processes_.Agree(finite);
                    loss_scale_ = metrics.loss_scale;
                    before = now;
                    ++step_;
                    if (absl::Status status = CompareRanks(); !status.ok()) return status;
                    if (absl::Status status = Keep(metrics); !status.ok()) return status;
                    if (snapshot_times_.IsAfter(step_) && step_ < last_step_ && stop_ == Stop::kNo) {
                      if (absl::Status status = TakeSnapshot(); !status.ok()) return status;
                    }
                    if (RestsAfter(step_)) before = trace::NowNs();
                    return stop_ == Stop::kNo && End().empty();
                  }});
    if (!done.ok()) {
      if (processes_.alone()) Note(saver_->Wait()).IgnoreError();  // several may wait for one that is lost
      return done;
    }
    progress_.reset();
    if (absl::Status status = SaveLast(); !status.ok()) return status;
    if (absl::Status status = Note(snapshots_->Wait()); !status.ok()) return status;
    if (absl::Status status = snapshots_->Remove(); !status.ok()) return status;
    if (absl::Status status = Summarise(step_ - first, static_cast<double>(before - begin) * 1e-9); !status.ok()) {
      return status;
    }
    if (stop_ != Stop::kInterrupt) return absl::OkStatus();
    return processes_.Agree(absl::CancelledError(
        absl::StrCat("interrupted after step ", step_, saved_ == step_ ? ", which was saved" : "")));
  }

  bool EvaluatesAfter(int64_t steps) const { return evaluations_ != nullptr && evaluations_->IsAfter(steps); }
  bool RestsAfter(int64_t steps) const {
    return save_times_.IsAfter(steps) || snapshot_times_.IsAfter(steps) || replica_times_.IsAfter(steps) ||
           EvaluatesAfter(steps);
  }

  // Behind the steps that are done, if that is due. All processes come.
  absl::Status CompareRanks() {
    if (slow_.has_value() && slow_times_.IsAfter(step_)) {
      slow_times_.Begin(trace::NowNs());
      busy_->Take();
      const auto times = busy_->Gather(processes_);
      if (!times.ok()) return times.status();
      for (const trace::SlowRank& slow : slow_->Find(step_, *times)) {
        context_.Tell(run::TextOf(slow));
        if (metrics_ == nullptr) continue;
        if (absl::Status status = metrics_->Write(slow); !status.ok()) return status;
      }
    }
    if (!replica_times_.IsAfter(step_)) return absl::OkStatus();
    replica_times_.Begin(trace::NowNs());
    const absl::StatusOr<Replicas> replicas = CompareReplicas(*cluster_, processes_);
    if (!replicas.ok()) return replicas.status();
    if (replicas->tiles == 0 && !std::exchange(told_of_no_replicas_, true))
      context_.Tell("--compare-replicas-every: no two ranks hold the same, nothing is compared");
    if (metrics_ != nullptr) {
      const absl::Status status = metrics_->Write(trace::ComparedReplicas{step_, replicas->difference});
      if (!status.ok()) return status;
    }
    if (replicas->difference.empty()) return absl::OkStatus();
    if (absl::Status written = Note(saver_->Wait()); !written.ok()) return written;
    return processes_.Agree(absl::AbortedError(absl::StrCat(
        "step ", step_, ": expected the same bits of all replicas: ", replicas->difference, "; ", Saved())));
  }

  std::string Saved() const {
    return saved_ >= 0 ? absl::StrCat("step ", saved_, " was saved last") : "nothing was saved";
  }

  // Why the run ends by what was evaluated; "" if it goes on.
  std::string End() const { return best_.has_value() ? best_->End() : ""; }

  // What is to be saved of the steps that are done: what is due, and the best.
  absl::Status Keep(const trace::StepMetrics& metrics) {
    const int64_t before = best_.has_value() ? best_->step() : -1;
    bool better = false;
    for (const auto& [name, value] : metrics.evaluation) {
      if (best_.has_value() && name == evaluations_->rule().metric) better = best_->Take(step_, value);
    }
    if (request_.checkpoint_dir.empty() || !(better || save_times_.IsAfter(step_))) return absl::OkStatus();
    // Who waits for the last one need not copy.
    const bool last = step_ >= last_step_ || stop_ != Stop::kNo;
    if (!last && saver_->writing() >= 0 && !std::exchange(told_to_wait_, true)) {
      context_.Tell(absl::StrCat("the checkpoint of step ", step_, " waits for that of step ", saver_->writing(),
                                 ", which is being written; later ones wait without a word"));
    }
    Save::Options options = ToSave();
    if (better) options.then = BestKeeper(before);
    return Note(last ? saver_->SaveNow(std::move(options)) : saver_->Begin(std::move(options)));
  }

  // Makes the checkpoint of the steps that are done the best, once it is saved. That of the best before goes, unless it
  // was asked for.
  std::function<absl::Status()> BestKeeper(int64_t before) const {
    const bool stays = before < 0 || save_times_.MayHaveBeenAfter(before);
    return [stays, before, step = step_, folder = request_.checkpoint_dir, every = request_.checkpoint_keep_every] {
      const absl::Status status = checkpoint::SetBest(folder, step);
      if (!status.ok() || stays || checkpoint::IsKeptForEver(folder, before, every)) return status;
      return checkpoint::RemoveFolder(absl::StrCat(folder, "/", checkpoint::StepName(before)));
    };
  }

  // Whether the next step may begin before this one is reported, the same for all processes: a GPU would have nothing
  // to do meanwhile, where the cores of a host have the report. A process alone knows already if it stops.
  bool BeginsAhead(const StepWord& own) const {
    return context_.device != nullptr && nan_ == nullptr && !RestsAfter(own.step) &&
           (!processes_.alone() || own.stop == Stop::kNo);
  }

  std::optional<float> MetricOf(const std::string& name) {
    const absl::StatusOr<float> value = cluster_->Metric(name);
    return value.ok() ? std::optional<float>(*value) : std::nullopt;
  }

  StepWord OwnWord(int64_t now_ns) {
    StepWord word{.step = step_ + 1,
                  .stop = Interrupts::asked(),
                  .resident_bytes = PeakResidentBytes(),
                  .save = save_times_.IsOver(now_ns),
                  .snapshot = snapshot_times_.IsOver(now_ns),
                  .slow_ranks = slow_times_.IsOver(now_ns),
                  .replicas = replica_times_.IsOver(now_ns),
                  .at_rest = saver_->at_rest(),
                  .snapshot_done = snapshots_->at_rest()};
    for (const plan::Metric& metric : context_.plan.metrics()) word.metrics.push_back(MetricOf(metric.name()));
    return word;
  }

  trace::StepMetrics MetricsOf(const StepWord& word, double step_s) const {
    trace::StepMetrics metrics{.step = word.step};
    const std::pair<const char*, std::optional<float>*> ours[] = {{"loss", &metrics.loss},
                                                                  {"grad_norm", &metrics.grad_norm},
                                                                  {"lr", &metrics.lr},
                                                                  {"loss_scale", &metrics.loss_scale},
                                                                  {"skipped_steps", &metrics.skipped_steps}};
    for (size_t i = 0; i < word.metrics.size(); ++i) {
      const std::string& name = context_.plan.metrics(static_cast<int>(i)).name();
      const auto* known = std::find_if(std::begin(ours), std::end(ours), [&](auto& it) { return it.first == name; });
      if (known != std::end(ours)) {
        *known->second = word.metrics[i];
      } else {
        metrics.of_model.emplace_back(name, word.metrics[i]);
      }
    }
    metrics.tokens = context_.plan.header().tokens_per_step();
    metrics.tokens_per_s = static_cast<double>(metrics.tokens) / step_s;
    const double flops = context_.plan.header().flops_per_step() / step_s;
    metrics.tflops = flops * 1e-12;
    if (peak_.has_value()) metrics.mfu = flops / *peak_;
    if (const double rate = context_.plan.header().cluster().device().contraction_flops(); rate > 0)
      metrics.mfu_cluster = context_.device != nullptr ? metrics.mfu : flops / (rate * RankCountOf(context_.plan));
    metrics.memory_bytes = resident_bytes_ = word.resident_bytes;
    if (const int64_t host = HostBytes(); host > 0)
      metrics.memory_share = static_cast<double>(metrics.memory_bytes) / static_cast<double>(host);
    return metrics;
  }

  absl::Status Report(const trace::StepMetrics& metrics, double elapsed_s) {
    if (progress_ != nullptr) progress_->Show(metrics, elapsed_s);
    if (page_ != nullptr) {
      if (absl::Status status = page_->Add(metrics); !status.ok()) return status;
    }
    if (board_ != nullptr) {
      if (absl::Status status = board_->Write(metrics, static_cast<double>(std::time(nullptr))); !status.ok())
        return status;
    }
    return metrics_ != nullptr ? metrics_->Write(metrics) : absl::OkStatus();
  }

  // The step has updated the state with them: from here on it is spoilt. Unless it was skipped.
  absl::Status CheckFinite(const trace::StepMetrics& metrics) {
    if (request_.allow_nonfinite) return absl::OkStatus();
    if (metrics.loss_scale.has_value() && !std::isfinite(metrics.grad_norm.value_or(0))) return CheckLossScale(metrics);
    for (const auto& [name, value] : {std::pair("loss", metrics.loss), std::pair("grad_norm", metrics.grad_norm)}) {
      if (!value.has_value() || std::isfinite(*value)) continue;
      return Diverged(absl::StrCat("step ", metrics.step, ": ", name, ": expected a finite number, got ", *value));
    }
    if (nan_ == nullptr) return absl::OkStatus();
    const absl::Status state = nan_->CheckState();
    return state.ok() ? state : Diverged(absl::StrCat("step ", metrics.step, ": ", state.message()));
  }

  // A step was skipped: the next one is tried with a smaller scale, if there is one.
  absl::Status CheckLossScale(const trace::StepMetrics& metrics) {
    const auto min = static_cast<float>(context_.plan.header().job().precision().loss_scale().min());
    if (!loss_scale_.has_value() || *loss_scale_ > min) return absl::OkStatus();
    return Diverged(absl::StrCat("step ", metrics.step, ": expected finite gradients with the least loss scale, ", min,
                                 " (precision.loss_scale.min), got ", *metrics.grad_norm, ", and a loss of ",
                                 metrics.loss.value_or(NAN), ", after ", metrics.skipped_steps.value_or(0),
                                 " skipped steps"));
  }

  // All processes come. What is being written is of before.
  absl::Status Diverged(const std::string& what) {
    if (absl::Status written = Note(saver_->Wait()); !written.ok()) return written;
    if (nan_ == nullptr) {
      return absl::AbortedError(
          absl::StrCat(what, "; ", Saved(), " (--debug-nan says which kernel made it, ", "--allow-nonfinite goes on)"));
    }
    const absl::StatusOr<std::string> found = nan_->Find();
    if (!found.ok()) return found.status();
    if (processes_.first()) std::fputs(found->c_str(), context_.err);  // with --quiet too
    return absl::AbortedError(absl::StrCat(what, "; ", Saved()));
  }

  // Whether checkpoints are written between steps.
  bool SavesOnTheWay() const {
    if (request_.checkpoint_dir.empty()) return false;
    return !request_.checkpoint_every.none() || (evaluations_ != nullptr && !evaluations_->rule().metric.empty());
  }

  // Saves at the end, once a step; the initial state only if no step is asked for.
  absl::Status SaveLast() {
    if (absl::Status status = Note(saver_->Wait()); !status.ok()) return status;
    if (request_.checkpoint_dir.empty() || saved_ == step_ || (step_ == 0 && last_step_ > 0)) return absl::OkStatus();
    return Note(saver_->SaveNow(ToSave()));
  }

  // What files say of the run as it is.
  const Record& RecordOfNow() {
    record_["date"] = checkpoint::TimeText();
    if (best_.has_value()) best_->AddTo(record_);
    return record_;
  }

  // Of the steps that are done. All processes come.
  absl::Status TakeSnapshot() {
    snapshot_times_.Begin(trace::NowNs());
    return Note(snapshots_->Begin({.step = step_, .seed = seed_, .record = RecordOfNow()}));
  }

  // The steps that are done.
  Save::Options ToSave() {
    save_times_.Begin(trace::NowNs());
    return {.of = {.folder = request_.checkpoint_dir,
                   .step = step_,
                   .seed = seed_,
                   .run = RecordOfNow(),
                   .keep = {.last = request_.checkpoint_keep, .every = request_.checkpoint_keep_every},
                   .beside = beside_}};
  }

  // What saves have come to, and which. All processes come.
  absl::Status Note(const absl::StatusOr<Saver::Done>& done) {
    if (absl::IsAborted(done.status())) return Diverged(std::string(done.status().message()));
    if (!done.ok()) return done.status();
    for (const trace::SavedCheckpoint& saved : *done) {
      saved_ = saved.step;
      if (metrics_ == nullptr) continue;
      if (absl::Status status = metrics_->Write(saved); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Note(const absl::StatusOr<Snapshots::Done>& done) {
    if (absl::IsAborted(done.status())) return Diverged(std::string(done.status().message()));
    if (!done.ok()) return done.status();
    for (const trace::TakenSnapshot& taken : *done) {
      if (metrics_ == nullptr) continue;
      if (absl::Status status = metrics_->Write(taken); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // All processes come.
  absl::Status Summarise(int64_t steps, double seconds) {
    RankMemory own = MemoryOf(context_, *cluster_);
    own.measured = growth_->bytes();
    const auto memory = GatherMemory(processes_, own);
    if (!memory.ok()) return memory.status();
    if (request_.quiet || !processes_.first()) return absl::OkStatus();
    std::fprintf(context_.err, "%lld step%s in %s; memory %s resident, of which the plan %s\n",
                 static_cast<long long>(steps), steps == 1 ? "" : "s", plan::SecondsText(seconds).c_str(),
                 plan::BytesText(resident_bytes_).c_str(), plan::BytesText(ArenaBytesOf(context_.plan)).c_str());
    if (!processes_.alone()) std::fputs(TextOfMemory(context_.plan, *memory).c_str(), context_.err);
    if (saved_ == step_ && saved_ != resumed_)
      std::fprintf(context_.err, "saved step %lld in %s\n", static_cast<long long>(step_),
                   request_.checkpoint_dir.c_str());
    if (const std::string end = End(); !end.empty() && steps > 0)
      std::fprintf(context_.err, "stopped after step %lld: %s\n", static_cast<long long>(step_), end.c_str());
    if (best_.has_value() && best_->step() >= 0)
      std::fprintf(context_.err, "best: %s%s\n", best_->Text().c_str(),
                   request_.checkpoint_dir.empty()
                       ? ""
                       : absl::StrCat(", in ", request_.checkpoint_dir, "/", checkpoint::kBestLink).c_str());
    if (stop_ == Stop::kTerminate)
      std::fprintf(context_.err, "stopped after step %lld, as a signal asked\n", static_cast<long long>(step_));
    return absl::OkStatus();
  }

  const Context context_;
  const Request& request_;
  Processes& processes_;
  const int64_t last_step_;
  DueTimes save_times_, snapshot_times_, slow_times_, replica_times_;
  int64_t step_ = 0;    // steps that are done
  int64_t saved_ = -1;  // of the last checkpoint
  int64_t resumed_ = -1;
  bool from_snapshots_ = false;
  std::optional<float> loss_scale_;  // of the coming step, if that is known
  Stop stop_ = Stop::kNo;
  bool told_to_wait_ = false;
  bool told_of_no_replicas_ = false;
  mutable int64_t resident_bytes_ = 0;
  uint64_t seed_ = 0;
  Record record_;
  std::vector<std::string> notes_;  // of the start, for people
  std::optional<Growth> growth_;
  RankMemory beside_bytes_;  // of all processes
  std::optional<double> peak_;
  // In the order in which they need each other.
  OpenedData data_;
  std::unique_ptr<Evaluations> evaluations_;  // null: there are none
  std::optional<Best> best_;                  // of them
  InitialParameters init_;
  std::map<std::string, std::string> beside_;  // files that go with the model into checkpoints, on the first process
  std::unique_ptr<trace::Timeline> timeline_;
  std::unique_ptr<executor::Cluster> cluster_;
  std::optional<BusyTimes> busy_;  // none: no rank has another one to be compared with
  std::optional<SlowRanks> slow_;
  std::unique_ptr<Saver> saver_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<DebugNan> nan_;  // null without --debug-nan
  std::unique_ptr<trace::MetricsWriter> metrics_;
  std::unique_ptr<trace::TensorBoardWriter> board_;
  std::unique_ptr<RunPage> page_;
  std::unique_ptr<trace::Progress> progress_;
};

}  // namespace

absl::Status Train(const Context& context) { return Trainer(context).Run(); }

}  // namespace weft::run
