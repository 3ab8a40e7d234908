#include "compiler/auto/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/auto/bound.h"
#include "compiler/auto/choice.h"
#include "compiler/auto/conflicts.h"
#include "compiler/auto/estimates.h"
#include "compiler/auto/floors.h"
#include "compiler/auto/layouts.h"
#include "compiler/auto/smallest.h"
#include "compiler/auto/whole.h"
#include "compiler/dialect/model/model.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/model_source.h"
#include "ops/abi/status_macros.h"
#include "runtime/plan/cluster.h"
#include "runtime/plan/names.h"

namespace weft::compiler {
namespace {

// Of Candidates::limit, what a core of a current x86 server does in a second: GPT-2 with 345M parameters is some 60,000
// and takes 0.3 s.
constexpr double kWorkPerSecond = 200000;
// How many of the best are compiled as a whole, and how many are tried at most until as many fit.
constexpr size_t kCompiled = 5, kTried = 12;
// A plan that takes so much more or less than was estimated says that others may. Then more are compiled, as many as
// are tried at most, as long as the next one would be the fastest if it were as much faster than its estimate as any
// was. Example: of ranks that share cores 1.5 at a time, estimates are 12 % to 17 % too low, each by its own part.
constexpr double kRough = 0.1;
// How many are compiled although an estimate says that they do not fit, if nothing does.
constexpr size_t kHopeless = 2;
// What takes so many times as long as the best is not looked at any closer: where data alone takes 1 s and tensor 8
// takes 1.5 s even before it recomputes anything, neither schedules nor other pins are tried with it. Nor is it
// compiled to be listed beside the best.
constexpr double kFar = 1.5;
// What takes so many times as long as the best by itself, or by what is known of like layouts, is not recomputed, or
// not compiled: estimates of two layouts are off by less than that from each other. Example: 1 s without recomputation
// does not fit, and the best takes 0.9 s.
constexpr double kSlower = 1.1;
// Of the best, how many units of schedules are timed at most to find where their stages are cut, some 0.1 s; and how
// many cuts at least.
constexpr int64_t kMeasuredUnits = 3'000'000, kLeastMeasured = 20;
// The part of the memory that the first such layout may hold all the time, of 80 GiB 72; the rest is for what comes and
// goes. The next one may hold half of that; how many there are.
constexpr double kHeld = 0.9;
constexpr int64_t kLayouts = 3;
// The layout that holds least.
constexpr int64_t kLeastLayout = kLayouts + 1;
bool saysStages(mlir::ModuleOp module) {
  return module.walk([](model::StageOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

class Search {
public:
  /// `options` outlives this.
  Search(const CompileOptions &options, const DecideOptions &how, ModelSource &source)
      : how_(how), source_(source), job_(options.job), asked_(LocateJob(options.job, options.jobFile)),
        cluster_(options.cluster), space_(asked_, options.cluster), hasStages_(saysStages(source.module())),
        bound_(asked_, options.cluster), work_(int64_t(asked_.auto_().seconds() * kWorkPerSecond)),
        estimates_(source.module(), options.cluster, space_, asked_, work_,
                   [this](const Choice &choice, Job &job) { addPins(choice, job); }),
        layouts_(estimates_.profiles().shallow(), options.cluster), whole_(source.module(), options.cluster),
        memory_(cluster_.device().memory_bytes() > 0 ? double(plan::PlanBytesOf(cluster_))
                                                     : std::numeric_limits<double>::infinity()) {}

  absl::StatusOr<Decided> run() {
    WEFT_RETURN_IF_ERROR(bound_.set(
        source_.module(), [&](const Choice &choice) { return estimates_.stageJob(choice, Recompute::NONE); }));
    if (!hasStages_) {
      WEFT_RETURN_IF_ERROR(checkPieces(asked_, bound_.pieces()));
    }
    closeUnused();
    std::vector<Choice> starts = space_.starts();
    if (starts.empty())
      return noLayout(asked_, cluster_);
    setLeast();
    fitsFirst(starts);
    for (const Choice &start : starts)
      descend(start);
    polish();
    lookBelow();
    cutBest();
    return points_.empty() && tooLargeAtSight_ == 0 ? nothingFound() : compileBest();
  }

  /// Behind run().
  const Learned &learned() const { return learned_; }

private:
  // From what fits on the bound drops others; from what is far too large the way there is long.
  void fitsFirst(std::vector<Choice> &starts) {
    const auto first = std::find_if(starts.begin(), starts.end(), [&](const Choice &start) {
      const std::optional<Point> point = look(start);
      return isOver() || (point && point->fits);
    });
    if (first != starts.end())
      std::rotate(starts.begin(), first, first + 1);
  }

  void closeUnused() {
    for (const auto &[axis, choices] : space_.axesAlone()) {
      const bool isUsed = std::any_of(choices.begin(), choices.end(), [&](const Choice &choice) {
        return estimates_.profiles().elaborates(estimates_.stageJob(choice, Recompute::NONE));
      });
      if (!isUsed && !(axis == "dist.tensor" && space_.movesParameters()))
        space_.close(axis);
    }
    if (!bound_.isTrained())
      space_.close("zero.stage");
  }

  absl::Status nothingFound() const {
    if (!firstError_.empty())
      return absl::InvalidArgumentError(absl::StrCat("graph.auto_parallel: no layout is possible: ", firstError_));
    return absl::InvalidArgumentError(
        absl::StrCat("auto.seconds: expected enough for the estimate of one layout, got ", asked_.auto_().seconds()));
  }

  void setLeast() {
    double least = std::numeric_limits<double>::infinity();
    space_.forEach([&](const Choice &choice) { least = std::min(least, bound_.secondsOf(choice)); });
    decision_.set_bound_s(least);
  }

  bool stopped() const { return how_.stop != nullptr && how_.stop->load(); }
  bool isGood() const {
    return !points_.empty() && points_.begin()->fits &&
           points_.begin()->estimate.step_s <= decision_.bound_s() * (1 + asked_.auto_().gap());
  }
  bool isOver() const { return stopped() || estimates_.exhausted() || isGood(); }

  // The least recomputation that fits, as AUTO does it: none, what is cheap of some layers, or all of some. In a
  // pipeline also none, or what is cheap, with stages that are cut for the memory instead of for the time.
  absl::StatusOr<Point> pointOf(const Choice &choice, double memory, bool below, int measured = 0) {
    const bool free = isFree();
    WEFT_ASSIGN_OR_RETURN(Estimate now, estimates_.with(choice, free ? Recompute::NONE : asked_.recompute().policy(),
                                                        Estimates::kNoLimit, measured));
    std::optional<Point> tight;
    WEFT_RETURN_IF_ERROR(
        cutFor(choice, memory, free ? Recompute::NONE : asked_.recompute().policy(), measured, now, tight));
    for (Recompute::Policy policy : {Recompute::SELECTIVE, Recompute::FULL}) {
      if (!free || now.fits(memory) || isSlower(now.step_s, kSlower) || (tight && isNear(*tight, now)))
        break;
      WEFT_ASSIGN_OR_RETURN(Estimate next, estimates_.with(choice, policy, Estimates::kNoLimit, measured));
      WEFT_RETURN_IF_ERROR(cutFor(choice, memory, policy, measured, next, tight));
      const double saved = now.bytes - next.bytes;
      const double part =
          saved > 0 && next.fits(memory) && now.bytes > memory ? std::min(1.0, (now.bytes - memory) / saved) : 1;
      next.step_s = now.step_s + part * (next.step_s - now.step_s);
      next.bytes = now.bytes + part * (next.bytes - now.bytes);
      now = std::move(next);
    }
    Point point{choice, now, now.fits(memory)};
    point = tight && *tight < point ? *tight : point;
    if (below)
      goBelow(choice, memory, measured, point);
    return point;
  }

  // What would be the fastest with any memory, of all that does not fit or recomputes. That is for the end: each is up
  // to three profiles more, and one fast layout that only fits so drops others on which the search would go on.
  void lookBelow() {
    if (!mayGoBelow())
      return;
    isSpent_ = estimates_.exhausted();
    estimates_.profiles().limit(work_ / 4);
    std::vector<std::pair<double, Point>> open;
    for (const Point &point : points_) {
      const absl::StatusOr<Estimate> free = estimates_.with(point.choice, Recompute::NONE);
      if (!point.below && free.ok() && (!point.fits || free->step_s < point.estimate.step_s))
        open.emplace_back(free->step_s, point);
    }
    std::sort(open.begin(), open.end());
    open.resize(std::min(open.size(), kTried));
    for (const auto &[seconds, point] : open) {
      Point other = point;
      goBelow(point.choice, memory_, /*measured=*/0, other);
      if (!stopped() && other < point) {
        points_.erase(point);
        points_.insert(other);
      }
    }
  }

  void goBelow(const Choice &choice, double memory, int measured, Point &point) {
    const bool fits = !points_.empty() && points_.begin()->fits;
    if (mayGoBelow())
      estimates_.goBelow(choice, memory, fits ? kSlower * points_.begin()->estimate.step_s : Estimates::kNoLimit,
                         measured, point);
  }

  // Whether the search says where what layers keep lies, as AUTO does.
  bool mayGoBelow() const { return isFree() && cluster_.tier_size() > 0 && !asked_.recompute().has_offload(); }

  absl::StatusOr<Point> pointOf(const Choice &choice) {
    return pointOf(choice, memory_, /*below=*/points_.empty() || !points_.begin()->fits);
  }

  // Whether the search says what is recomputed.
  bool isFree() const { return !asked_.recompute().has_policy() || asked_.recompute().policy() == Recompute::AUTO; }

  // With stages cut such that it fits, if that is not so by itself and can be: the best in `tight`.
  absl::Status cutFor(const Choice &choice, double memory, Recompute::Policy policy, int measured, const Estimate &free,
                      std::optional<Point> &tight) {
    if (choice.pipeline == 1 || free.bytes <= memory || isSlower(free.step_s, kSlower))
      return absl::OkStatus();
    WEFT_ASSIGN_OR_RETURN(const Estimate cut, estimates_.with(choice, policy, memory, measured));
    const Point point{choice, cut, cut.fits(memory)};
    if (point.fits && (!tight || point < *tight))
      tight = point;
    return absl::OkStatus();
  }

  // Whether nothing that recomputes more is worth a look.
  static bool isNear(const Point &tight, const Estimate &free) {
    constexpr double kNear = 1.01;
    return tight.estimate.step_s <= kNear * free.step_s;
  }

  // Than the best that fits, so many times.
  bool isSlower(double step_s, double times) const {
    return !points_.empty() && points_.begin()->fits && step_s >= times * points_.begin()->estimate.step_s;
  }
  bool isFar(double step_s) const { return isSlower(step_s, kFar); }

  // What a choice takes if it recomputes nothing, whether that fits or not; nothing if that is not far, or if the bound
  // says already that no schedule of it is worth a look.
  std::optional<Point> farPointOf(const Choice &choice) {
    const std::vector<Choice> schedules = space_.schedulesOf(choice);
    if (std::all_of(schedules.begin(), schedules.end(), [&](const Choice &it) { return isBounded(it); }))
      return std::nullopt;
    if (asked_.recompute().has_policy() && asked_.recompute().policy() != Recompute::AUTO)
      return std::nullopt;
    const absl::StatusOr<Estimate> least = estimates_.with(choice, Recompute::NONE);
    if (!least.ok() || !isFar(least->step_s))
      return std::nullopt;
    if (const std::optional<Choice> over = overlapOf(Point{choice, *least, true})) {
      const absl::StatusOr<Estimate> together = estimates_.with(*over, Recompute::NONE);
      if (together.ok() && !isFar(together->step_s))
        return std::nullopt;
    }
    return Point{choice, *least, true};
  }

  // By its micro-batches one by one: where they overlap, one of them may leave a stage before the others.
  bool isBounded(Choice choice) const {
    choice.micro /= choice.overlap;
    choice.overlap = 1;
    return !points_.empty() && points_.begin()->fits && bound_.secondsOf(choice) >= points_.begin()->estimate.step_s;
  }

  // The same with micro-batches that overlap, if that would be the best of all with everything hidden that is exposed.
  // Where only gradients are exchanged, that is beside the computation anyway.
  std::optional<Choice> overlapOf(const Point &point) {
    constexpr double kLeast = 0.01; // exposed: below that kernels of half the size lose more
    const Choice choice = unscheduled(point.choice), over = space_.overlapped(choice);
    const Recompute::Policy policy = isFree() ? Recompute::NONE : asked_.recompute().policy();
    const absl::StatusOr<Profile> *profile = estimates_.profilesOf(choice).known(estimates_.stageJob(choice, policy));
    const bool exchanges = choice.tensor * choice.context * choice.expert > 1 || choice.zero == 3;
    if (over == choice || !exchanges || !point.fits || profile == nullptr || !profile->ok() ||
        (*profile)->exposed < kLeast || isSlower(point.estimate.step_s * (1 - (*profile)->exposed), 1))
      return std::nullopt;
    if (choice.layout > 0)
      pins_[over] = pins_[choice];
    return over;
  }

  // The best schedule of a choice and of where its parameters lie, or nothing if none is possible or worth a look.
  std::optional<Point> look(const Choice &choice) {
    if (auto it = seen_.find(choice); it != seen_.end())
      return it->second;
    std::optional<Point> best = tooLargeAtSight(choice);
    if (!best) {
      if (const double floor = floors_.secondsOf(choice, space_.microBatches(choice)); isSlower(floor, kSlower))
        return seen_[choice] = Point{choice, {floor, 0, {}}, true};
      best = farPointOf(choice);
    }
    if (best) {
      // On the way to something better.
      estimated_[choice] = true;
      return seen_[choice] = best;
    }
    best = lookAtSchedules(choice);
    if (wantsLayouts(choice, best))
      lookAtLayouts(choice, /*all=*/false, best);
    if (const std::optional<Choice> over = best ? overlapOf(*best) : std::nullopt) {
      if (const std::optional<Point> point = lookAtSchedules(*over); point && *point < *best)
        best = point;
    }
    keepFloor(choice);
    seen_[choice] = best;
    tell();
    return best;
  }

  // Where something was profiled, with the best of the pins that were tried.
  void keepFloor(const Choice &choice) {
    if (space_.microBatches(choice) < 2 || &estimates_.profilesOf(choice) != &estimates_.profiles())
      return;
    const Recompute::Policy policy = isFree() ? Recompute::NONE : asked_.recompute().policy();
    for (Choice with : {choice, space_.overlapped(choice)}) {
      for (with.layout = 0; with.layout <= kLayouts; ++with.layout) {
        const bool has = with.layout == 0 || pins_.count(unscheduled(with)) > 0;
        const absl::StatusOr<Profile> *profile =
            has ? estimates_.profiles().known(estimates_.stageJob(with, policy)) : nullptr;
        if (profile == nullptr || !profile->ok())
          continue;
        double seconds = 0;
        for (const Piece &piece : (*profile)->pieces)
          seconds += piece.forward_s + piece.backward_s;
        floors_.keep(with, seconds);
      }
    }
  }

  // On the way to something that fits; not compiled.
  std::optional<Point> tooLargeAtSight(const Choice &choice) {
    const double bytes = bound_.bytesOf(choice);
    if (bytes <= memory_)
      return std::nullopt;
    ++tooLargeAtSight_;
    return Point{choice, {0, bytes, {}}, false};
  }

  std::optional<Point> lookAtSchedules(const Choice &choice) {
    std::optional<Point> best;
    for (const Choice &scheduled : space_.schedulesOf(choice)) {
      if (isBounded(scheduled))
        continue;
      const absl::StatusOr<Point> point = pointOf(scheduled);
      if (absl::IsResourceExhausted(point.status()))
        return best;
      Choice counted = space_.apart(scheduled);
      counted.layout = 0;
      estimated_[counted] |= point.ok();
      if (!point.ok()) {
        firstError_ = firstError_.empty() ? std::string(point.status().message()) : firstError_;
        continue;
      }
      points_.insert(*point);
      if (!best || *point < *best)
        best = *point;
    }
    return best;
  }

  // ---- where parameters lie -----------------------------------------------

  // Where the model's pins make a choice much slower than the best, other pins are not looked for.
  bool wantsLayouts(const Choice &choice, const std::optional<Point> &pinned) {
    if (!space_.movesParameters() || choice.tensor == 1 || isBounded(choice))
      return false;
    return !pinned || !isFar(pinned->estimate.step_s);
  }

  // One layout after the other, of which each holds half as much, until one fits or, if `all`, to the end.
  void lookAtLayouts(Choice choice, bool all, std::optional<Point> &best) {
    double held = kHeld * memory_;
    for (choice.layout = 1; choice.layout <= kLayouts; ++choice.layout) {
      if (pins_.count(unscheduled(choice)) == 0 && !findPins(choice, held))
        return;
      const std::optional<Point> point = lookAtSchedules(choice);
      if (point && (!best || *point < *best))
        best = point;
      const absl::StatusOr<Estimate> plain = estimates_.with(choice, Recompute::NONE);
      if (!plain.ok() || (plain->bytes <= memory_ && !all))
        return;
      held = std::min(held, kHeld * plain->bytes) / 2;
    }
  }

  // What the search for pins counts is not all that a step takes: around the best, more of them are tried.
  void polish() {
    std::vector<Choice> near;
    for (auto it = points_.begin(); it != points_.end() && it->fits && near.size() < kCompiled; ++it) {
      Choice choice = unscheduled(it->choice);
      choice.layout = 0;
      if (choice.tensor > 1 && space_.movesParameters() && std::find(near.begin(), near.end(), choice) == near.end())
        near.push_back(choice);
    }
    for (const Choice &choice : near) {
      std::optional<Point> best;
      if (!stopped() && !estimates_.exhausted())
        lookAtLayouts(choice, /*all=*/true, best);
    }
  }

  // All stages together have the memory of as many ranks; the first one keeps as many micro-batches as there are
  // stages, of its share of the layers. `held`: how much a rank may hold all the time.
  bool findPins(const Choice &choice, double held) {
    Choice plain = choice;
    plain.layout = 0;
    Job job = estimates_.stageJob(plain, Recompute::NONE);
    job.mutable_batch()->set_global(asked_.batch().global());
    const double stages = double(choice.pipeline);
    const double limit = std::isinf(held) ? 0 : held * stages;
    absl::StatusOr<std::vector<Pin>> pins =
        layouts_.find(job, limit, std::min(stages, double(space_.microBatches(choice))));
    if (!pins.ok())
      return false;
    pins_[unscheduled(choice)] = *std::move(pins);
    return true;
  }

  // Of a choice near one that was looked at.
  bool hasPins(const Choice &choice) {
    return choice.layout == 0 || pins_.count(unscheduled(choice)) > 0 || findPins(choice, kHeld * memory_);
  }

  void addPins(const Choice &choice, Job &job) const {
    if (const auto it = pins_.find(unscheduled(choice)); choice.layout > 0 && it != pins_.end())
      job.mutable_graph()->mutable_pin()->Add(it->second.begin(), it->second.end());
  }

  // With its stages cut as it was estimated, but where the job or the model says how.
  Job jobOf(const Point &point) const {
    Job job = space_.jobOf(point.choice);
    addPins(point.choice, job);
    if (point.policy)
      job.mutable_recompute()->set_policy(*point.policy);
    // What looks slower below the device is not compiled both ways.
    if (mayGoBelow() && (point.policy || !point.below))
      job.mutable_recompute()->set_offload(point.below);
    if (mayGoBelow() && !point.below)
      job.mutable_recompute()->clear_tier(); // nothing lies there
    if (cuts(point.choice))
      job.mutable_pipeline()->mutable_cuts()->Assign(point.estimate.cuts.begin(), point.estimate.cuts.end());
    return job;
  }

  // Whether the search says where the stages of a choice are cut.
  bool cuts(const Choice &choice) const {
    return choice.pipeline > 1 && asked_.pipeline().cuts_size() == 0 && !hasStages_;
  }

  // As Space::keysOf; layers that begin a chunk are many.
  std::string keysOf(const Choice &choice) const {
    return absl::StrCat(space_.keysOf(choice), cuts(choice) ? " pipeline.cuts=..." : "");
  }

  std::string keysOf(const Point &point) const { return absl::StrCat(keysOf(point.choice), policyOf(point)); }

  // The same keys in full, for a command line.
  std::string commandOf(const Point &point) const {
    Choice choice = point.choice;
    choice.layout = 0;
    std::string text = space_.keysOf(choice);
    if (const auto it = pins_.find(unscheduled(point.choice)); point.choice.layout > 0 && it != pins_.end()) {
      for (const Pin &pin : it->second)
        absl::StrAppend(&text, " 'graph.pin={parameter: \"", pin.parameter(), "\" axis: \"", pin.axis(), "\" state: \"",
                        pin.state(), "\"}'");
    }
    if (cuts(point.choice)) {
      for (const std::string &cut : point.estimate.cuts)
        absl::StrAppend(&text, " pipeline.cuts=", cut);
    }
    return absl::StrCat(text, point.policy ? policyOf(point) : isFree() ? " recompute.policy=AUTO" : "");
  }

  // Cuts the stages of what will be compiled as well as can be.
  void cutBest() {
    std::vector<Point> pipelines;
    size_t seen = 0;
    for (const Point &point : points_) {
      if (!point.fits || ++seen > kTried)
        break;
      if (cuts(point.choice))
        pipelines.push_back(point);
    }
    for (const Point &point : pipelines) {
      const int64_t units = 3 * point.choice.pipeline * point.choice.chunks * space_.microBatches(point.choice);
      const absl::StatusOr<Point> better =
          pointOf(point.choice, memory_, point.below, int(std::max(kMeasuredUnits / units, kLeastMeasured)));
      if (!better.ok() || !(*better < point))
        continue;
      points_.erase(point);
      points_.insert(*better);
    }
  }

  void descend(const Choice &start) {
    std::optional<Point> here = look(start);
    for (bool moved = true; moved && !isOver();) {
      moved = false;
      for (const Choice &near : space_.neighbours(here ? space_.apart(here->choice) : start)) {
        if (isOver())
          break;
        Choice plain = unscheduled(near);
        plain.layout = 0;
        const std::optional<Point> there = look(plain);
        if (there && (!here || *there < *here)) {
          here = there;
          moved = true;
          break;
        }
      }
    }
  }

  void say(const std::string &line) const {
    if (how_.progress)
      how_.progress(line);
  }

  void tell() const {
    if (points_.empty())
      return;
    const Point &best = *points_.begin();
    say(absl::StrCat(seen_.size(), " layouts looked at; best: ",
                     best.fits ? plan::SecondsText(best.estimate.step_s)
                               : absl::StrCat("too large, ", plan::BytesText(int64_t(best.estimate.bytes)), " a rank"),
                     " with ", keysOf(best.choice)));
  }

  // Compiles the best as a whole, until enough of them fit.
  absl::StatusOr<Decided> compileBest() {
    std::vector<Whole> fitting;
    whole_.limit(0);            // the first one that fits is compiled whatever it takes
    std::optional<Whole> least; // of what does not fit
    size_t tried = 0;
    bool rough = false;
    double fastest = std::numeric_limits<double>::infinity(), leastPart = 1; // of what was estimated, that one took
    std::set<Choice> schedules; // of those that differ in the chunks of a stage alone, the best is enough
    bool wentBelow = false;     // AUTO weighs below the device at four times the work: the best is enough
    for (const Point &point : points_) {
      const bool maybe = rough && point.estimate.step_s * leastPart < fastest;
      const bool far = point.fits && point.estimate.step_s >= kFar * fastest;
      const bool enough = (fitting.size() >= kCompiled && !maybe) || tried >= kTried || far;
      const bool over = stopped() || whole_.exhausted() || !point.fits;
      if (enough || (over && (!fitting.empty() || tried >= kHopeless)))
        break;
      Choice plain = point.choice;
      plain.chunks = 0;
      if (!schedules.insert(plain).second || (point.below && wentBelow && !fitting.empty()))
        continue;
      wentBelow |= point.below;
      ++tried;
      say(absl::StrCat("compiling ", keysOf(point.choice)));
      absl::StatusOr<Whole> whole = compileWhole(point, /*dense=*/false);
      if (!whole.ok()) {
        firstError_ = std::string(whole.status().message());
        continue;
      }
      if (whole->fits(memory_)) {
        fitting.push_back(*std::move(whole));
        const plan::Alternative &found = fitting.back().alternative;
        rough |= std::abs(found.step_s() - found.estimated_s()) > kRough * found.estimated_s();
        fastest = std::min(fastest, found.step_s());
        leastPart = std::min(leastPart, found.step_s() / found.estimated_s());
        if (fitting.size() == 1)
          whole_.limit(work_ / 2);
        continue;
      }
      tooLarge_[plain] = whole->alternative;
      if (!least || whole->isSmallerThan(*least))
        least = *std::move(whole);
    }
    decision_.set_compiled(int64_t(tried));
    if (fitting.empty()) {
      WEFT_RETURN_IF_ERROR(compileSmallest(least));
      fitting.push_back(*std::move(least));
    }
    const auto faster = [](const Whole &a, const Whole &b) { return a.alternative.step_s() < b.alternative.step_s(); };
    // The best one as it will be run; a few bytes in other places may cost it the first place.
    for (std::stable_sort(fitting.begin(), fitting.end(), faster); !fitting.front().isDense;
         std::stable_sort(fitting.begin(), fitting.end(), faster))
      WEFT_RETURN_IF_ERROR(place(/*dense=*/true, fitting.front()));
    return finish(fitting);
  }

  absl::StatusOr<Whole> compileWhole(const Point &point, bool dense) {
    Whole whole{point, {}, {}, {}, false};
    WEFT_ASSIGN_OR_RETURN(whole.bare, whole_.unplacedFor(jobOf(point)));
    whole.alternative.set_keys(keysOf(point));
    whole.alternative.set_estimated_s(point.estimate.step_s);
    WEFT_RETURN_IF_ERROR(place(dense, whole));
    return whole;
  }

  absl::Status place(bool dense, Whole &whole) const { return weft::compiler::place(cluster_, dense, whole); }

  // The smallest of what there is, as it will be run, if that fits; else kResourceExhausted. What AUTO recomputes in
  // `least` depends on the memory; what is found here does not.
  absl::Status compileSmallest(std::optional<Whole> &least) {
    std::optional<Whole> found;
    for (const Small &small : smallest()) {
      const Point point{small.choice, small.estimate, false, isFree() ? std::optional(small.policy) : std::nullopt,
                        mayGoBelow()};
      say(absl::StrCat("compiling ", keysOf(point)));
      absl::StatusOr<Whole> whole = compileWhole(point, /*dense=*/true);
      decision_.set_compiled(decision_.compiled() + 1);
      if (!whole.ok())
        firstError_ = std::string(whole.status().message());
      else if (!found || whole->isSmallerThan(*found))
        found = *std::move(whole);
    }
    if (found)
      least = std::move(found);
    if (!least)
      return absl::InvalidArgumentError(absl::StrCat("graph.auto_parallel: no layout compiles: ", firstError_));
    if (!least->isDense) {
      WEFT_RETURN_IF_ERROR(place(/*dense=*/true, *least));
    }
    if (least->fits(memory_))
      return absl::OkStatus();
    const plan::Alternative &needs = least->alternative;
    learned_.needed = Needed{needs.bytes(), commandOf(least->point), needs.full_tier(), needs.tier_lacks_bytes()};
    return absl::ResourceExhaustedError("");
  }

  std::vector<Small> smallest() {
    estimates_.profiles().limit(work_ / 2);
    Smallest search(
        space_,
        isFree() ? std::vector{Recompute::NONE, Recompute::SELECTIVE, Recompute::FULL}
                 : std::vector{asked_.recompute().policy()},
        [&](const Choice &choice) {
          const bool moves = choice.tensor > 1 && space_.movesParameters();
          return moves ? std::vector<int64_t>{0, kLeastLayout} : std::vector<int64_t>{0};
        },
        [&](const Choice &choice, Recompute::Policy policy) -> absl::StatusOr<Estimate> {
          if (stopped())
            return absl::ResourceExhaustedError("stopped");
          constexpr double kLittle = 1; // bytes; a limit of 0 is none
          if (choice.layout > 0 && pins_.count(unscheduled(choice)) == 0 && !findPins(choice, kLittle))
            return absl::InvalidArgumentError("no other pins");
          const int measured = choice.chunks > 1 ? int(kLeastMeasured) : 0;
          absl::StatusOr<Estimate> estimate = mayGoBelow()
                                                  ? estimates_.below(choice, policy, kLittle, /*memory=*/0, measured)
                                                  : estimates_.with(choice, policy, kLittle, measured);
          Choice counted = choice;
          counted.layout = 0;
          if (!absl::IsResourceExhausted(estimate.status()))
            estimated_[counted] |= estimate.ok();
          return estimate;
        });
    return search.find(kCompiled);
  }

  absl::StatusOr<Decided> finish(std::vector<Whole> &fitting) {
    Whole &best = fitting.front();
    const Job located = jobOf(best.point);
    WEFT_RETURN_IF_ERROR(certify(located, cluster_, &whole_, best.plan));
    Job job = located;
    // Its paths as they were.
    *job.mutable_model() = job_.model();
    job.set_cluster(job_.cluster());
    if (job.has_pipeline())
      job.mutable_pipeline()->set_schedule_file(job_.pipeline().schedule_file());
    for (const std::string &key : space_.open())
      decision_.add_open(key);
    count(best.alternative.step_s());
    decision_.set_gap(best.alternative.step_s() / decision_.bound_s() - 1);
    for (size_t i = 0; i < fitting.size() && i < kCompiled; ++i)
      *decision_.add_best() = fitting[i].alternative;
    keepRefused(best.alternative.step_s());
    keepUnlimited();
    keepPrices(best.point.choice);
    const bool work = isSpent_ || estimates_.exhausted() || whole_.exhausted();
    decision_.set_ended(stopped() ? "interrupted" : isGood() ? "gap" : work ? "work" : "no better neighbour");
    *best.plan.mutable_header()->mutable_job() = job;
    *best.plan.mutable_header()->mutable_decision() = decision_;
    return Decided{job, std::move(best.plan)};
  }

  // What would be faster than `step_s`, were there memory: one of those that differ in the chunks of a stage alone.
  void keepRefused(double step_s) {
    for (const Point &point : points_) {
      if (point.fits)
        continue;
      Choice plain = point.choice;
      plain.chunks = 0;
      const plan::Alternative refused = estimatedOf(point, keysOf(point.choice));
      const auto [it, isNew] = tooLarge_.try_emplace(plain, refused);
      if (!isNew && it->second.compute_s() == 0 && point.estimate.step_s < it->second.step_s())
        it->second = refused;
    }
    std::vector<const plan::Alternative *> faster;
    for (const auto &[choice, alternative] : tooLarge_) {
      if (alternative.step_s() < step_s)
        faster.push_back(&alternative);
    }
    std::stable_sort(faster.begin(), faster.end(),
                     [](const auto *a, const auto *b) { return a->step_s() < b->step_s(); });
    for (size_t i = 0; i < faster.size() && i < kCompiled; ++i)
      *decision_.add_refused() = *faster[i];
    decision_.set_memory_bytes(memory_ < std::numeric_limits<double>::infinity() ? int64_t(memory_) : 0);
  }

  // Of the best, those that do not fit among them, without recomputation.
  void keepUnlimited() {
    size_t left = 2 * kTried;
    const auto look = [&](const Point &point) {
      const absl::StatusOr<Estimate> free = isFree() ? estimates_.with(point.choice, Recompute::NONE) : point.estimate;
      if (free.ok() && (learned_.unlimited_s == 0 || free->step_s < learned_.unlimited_s))
        learned_.unlimited_s = free->step_s;
    };
    for (const Point &point : points_) {
      if (left-- == 0)
        break;
      look(point);
    }
    for (const plan::Alternative &refused : decision_.refused())
      learned_.unlimited_s = std::min(learned_.unlimited_s, refused.step_s());
  }

  // What a GiB more memory would have let the same estimates find, and the chosen layout with larger micro-batches.
  void keepPrices(const Choice &chosen) {
    constexpr double kMore = double(int64_t(1) << 30);
    const auto keep = [&](const char *means, const Estimate &before, const Point &after) {
      plan::MeansPrice &price = *decision_.add_prices();
      price.set_means(means);
      price.set_keys(keysOf(after.choice));
      price.set_saved_s(before.step_s - after.estimate.step_s);
      price.set_bytes(int64_t(after.estimate.bytes));
    };
    if (memory_ < std::numeric_limits<double>::infinity() && !points_.empty() && points_.begin()->fits) {
      Point best = *points_.begin();
      for (const Point &point : points_) {
        const absl::StatusOr<Point> more = pointOf(point.choice, memory_ + kMore, point.below);
        if (more.ok() && *more < best)
          best = *more;
      }
      keep("1 GiB more memory", points_.begin()->estimate, best);
    }
    Choice larger = chosen;
    larger.micro *= 2;
    if (asked_.batch().global() % larger.micro != 0 || !hasPins(larger))
      return;
    const absl::StatusOr<Point> before = pointOf(chosen), after = pointOf(larger);
    if (before.ok() && after.ok())
      keep("micro-batches twice as large", before->estimate, *after);
  }

  // Every choice counts once.
  void count(double best) {
    int64_t considered = 0, bounded = 0, impossible = 0, estimated = 0;
    space_.forEach([&](const Choice &choice) {
      ++considered;
      bounded += bound_.secondsOf(choice) >= best ? 1 : 0;
    });
    for (const auto &[choice, isPossible] : estimated_) {
      (isPossible ? estimated : impossible) += 1;
      bounded -= bound_.secondsOf(choice) >= best ? 1 : 0;
    }
    decision_.set_considered(considered);
    decision_.set_dropped_by_bound(bounded);
    decision_.set_impossible(impossible);
    decision_.set_estimated(estimated);
    decision_.set_dropped_by_memory(tooLargeAtSight_ + std::count_if(points_.begin(), points_.end(),
                                                                     [](const Point &point) { return !point.fits; }));
    decision_.set_unseen(considered - bounded - impossible - estimated);
  }

  const DecideOptions &how_;
  ModelSource &source_;
  const Job &job_;  // as asked for
  const Job asked_; // the same, with paths as seen from here
  const Cluster &cluster_;
  Space space_;
  const bool hasStages_; // the model says where they begin
  Bound bound_;
  const int64_t work_;
  Estimates estimates_;
  Layouts layouts_;
  Floors floors_;
  Candidates whole_;
  const double memory_;
  std::map<Choice, std::optional<Point>> seen_; // by choice without its schedule and its layout
  std::map<Choice, std::vector<Pin>> pins_;     // of choices with a layout of their own, without their schedule
  std::map<Choice, bool> estimated_;            // whether it was possible
  int64_t tooLargeAtSight_ = 0;                 // of these
  std::set<Point> points_;
  std::map<Choice, plan::Alternative> tooLarge_; // compiled; by choice without its chunks
  std::string firstError_;
  bool isSpent_ = false; // the search's work, in front of lookBelow()
  Learned learned_;
  plan::Decision decision_;
};

} // namespace

absl::StatusOr<Decided> searchLayouts(const CompileOptions &options, const DecideOptions &how, ModelSource &source,
                                      Learned &learned) {
  Search search(options, how, source);
  absl::StatusOr<Decided> decided = search.run();
  learned = search.learned();
  return decided;
}

} // namespace weft::compiler
