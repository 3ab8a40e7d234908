#include "compiler/auto/choice.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/job/job.h"
#include "compiler/job/stages.h"
#include "llvm/ADT/STLExtras.h"

namespace weft::compiler {
namespace {

// An axis of the mesh, or the stages.
struct AxisKey {
  const char *key;
  int64_t Choice::*size;
  int64_t (Dist::*asked)() const;
  void (Dist::*set)(int64_t);
};

constexpr AxisKey kAxes[] = {
    {"dist.data", &Choice::data, &Dist::data, &Dist::set_data},
    {"dist.expert", &Choice::expert, &Dist::expert, &Dist::set_expert},
    {"dist.context", &Choice::context, &Dist::context, &Dist::set_context},
    {"dist.tensor", &Choice::tensor, &Dist::tensor, &Dist::set_tensor},
    {"dist.pipeline", &Choice::pipeline, &Dist::pipeline, &Dist::set_pipeline},
};

std::vector<int64_t> divisorsOf(int64_t number) {
  std::vector<int64_t> divisors;
  for (int64_t i = 1; i * i <= number; ++i) {
    if (number % i == 0) {
      divisors.push_back(i);
      if (i * i < number)
        divisors.push_back(number / i);
    }
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::vector<int64_t> primesOf(int64_t number) {
  std::vector<int64_t> primes;
  for (int64_t i = 2; number > 1; ++i) {
    if (number % i == 0)
      primes.push_back(i);
    while (number % i == 0)
      number /= i;
  }
  return primes;
}

struct ScheduleChoice {
  PipelineSchedule schedule;
  ZeroBubble form;
};

constexpr ScheduleChoice kSchedules[] = {
    {ONE_F_ONE_B, H1}, {GPIPE, H1}, {INTERLEAVED, H1}, {ZERO_BUBBLE, H1}, {ZERO_BUBBLE, V}};

// How many chunks a schedule may have on a stage, of which the first is what it takes by itself.
std::vector<int64_t> chunksOf(const ScheduleChoice &choice) {
  if (choice.schedule != INTERLEAVED)
    return {choice.schedule == ZERO_BUBBLE && choice.form == V ? 2 : 1};
  std::vector<int64_t> all;
  for (int64_t chunks = 2; chunks <= kMostChunks; ++chunks)
    all.push_back(chunks);
  return all;
}

} // namespace

Space::Space(const Job &asked, const Cluster &cluster)
    : asked_(asked), ranks_(cluster.node().count() * cluster.node().ranks()), nodeRanks_(cluster.node().ranks()) {}

std::vector<std::pair<std::string, std::vector<Choice>>> Space::axesAlone() const {
  std::vector<std::pair<std::string, std::vector<Choice>>> axes;
  for (const AxisKey &axis : kAxes) {
    if (axis.size == &Choice::pipeline || (asked_.dist().*axis.asked)() > 0)
      continue;
    axes.push_back({axis.key, {}});
    for (int64_t prime : primesOf(ranks_)) {
      Choice &alone = axes.back().second.emplace_back();
      alone.*axis.size = prime;
      alone.micro = asked_.batch().global();
      alone.overlap = leastOverlap();
    }
  }
  return axes;
}

std::vector<std::string> Space::open() const {
  std::vector<std::string> keys;
  for (const AxisKey &axis : kAxes) {
    if ((asked_.dist().*axis.asked)() == 0)
      keys.push_back(axis.key);
  }
  for (auto [key, isSet] :
       {std::pair("batch.micro", asked_.batch().micro() > 0), std::pair("batch.overlap", asked_.batch().overlap() > 0),
        std::pair("zero.stage", asked_.zero().has_stage()), std::pair("zero.group", asked_.zero().group() > 0),
        std::pair("pipeline.schedule", asked_.pipeline().has_schedule() || !asked_.pipeline().schedule_file().empty()),
        std::pair("pipeline.chunks", asked_.pipeline().chunks() > 0),
        std::pair("recompute.policy", asked_.recompute().has_policy())}) {
    if (!isSet)
      keys.push_back(key);
  }
  if (movesParameters() && asked_.dist().tensor() != 1)
    keys.push_back("graph.pin");
  return keys;
}

bool Space::has(const Choice &choice) const {
  const auto allows = [](int64_t asked, int64_t size) { return asked == 0 || asked == size; };
  for (const AxisKey &axis : kAxes) {
    const int64_t asked = (asked_.dist().*axis.asked)();
    if (!allows(asked, choice.*axis.size) || (asked == 0 && choice.*axis.size > 1 && closed_.count(axis.key) > 0))
      return false;
  }
  const int64_t global = asked_.batch().global();
  const bool divides = ranks_ % choice.ranks() == 0 || asked_.dist().data() > 0;
  if (choice.pipeline == 1 && !KeyOfStages(asked_.pipeline()).empty())
    return false;
  return choice.ranks() <= ranks_ && divides && choice.pipeline <= kMostStages &&
         allows(asked_.batch().micro() * choice.overlap, choice.micro) && global % choice.micro == 0 &&
         choice.micro % (choice.data * choice.overlap) == 0 && global / choice.micro <= kMostMicroBatches &&
         allowsZero(choice);
}

// Of choices that ZeRO makes one plan of, one.
bool Space::allowsZero(const Choice &choice) const {
  const int64_t stage = choice.zero, group = choice.group, asked = asked_.zero().group();
  if (asked_.zero().has_stage() ? stage != asked_.zero().stage()
                                : stage < leastZero() || (stage > leastZero() && !sharesOut(choice)))
    return false;
  if (asked > 0)
    return group == asked && choice.data % group == 0;
  return group == 0 || (stage > 0 && sharesOut(choice) && group > 1 && group < choice.data && choice.data % group == 0);
}

bool Space::sharesOut(const Choice &choice) const {
  return choice.data > 1 && choice.group != 1 && closed_.count("zero.stage") == 0;
}

int64_t Space::leastOverlap() const { return std::max<int64_t>(asked_.batch().overlap(), 1); }

int64_t Space::leastZero() const {
  return asked_.zero().has_stage() ? asked_.zero().stage() : asked_.zero().group() > 0 ? 1 : 0;
}

void Space::forEach(const std::function<void(const Choice &)> &visit) const {
  const std::vector<int64_t> sizes = divisorsOf(ranks_), micros = divisorsOf(asked_.batch().global());
  std::vector<Choice> meshes(1);
  meshes[0].overlap = leastOverlap();
  for (const AxisKey &axis : kAxes) {
    std::vector<Choice> more;
    const int64_t asked = (asked_.dist().*axis.asked)();
    for (const Choice &mesh : meshes) {
      for (int64_t size : asked > 0                     ? std::vector<int64_t>{asked}
                          : closed_.count(axis.key) > 0 ? std::vector<int64_t>{1}
                                                        : sizes) {
        Choice next = mesh;
        next.*axis.size = size;
        if (next.ranks() <= ranks_ && (asked_.dist().data() > 0 || ranks_ % next.ranks() == 0))
          more.push_back(next);
      }
    }
    meshes = std::move(more);
  }
  for (Choice choice : meshes) {
    for (int64_t micro : micros) {
      choice.micro = micro;
      if (micro % choice.data != 0)
        continue;
      for (int64_t zero = 0; zero <= 3; ++zero) {
        choice.zero = zero;
        std::set<int64_t> groups = {0, nodeRanks_ / choice.tensor / choice.context / choice.expert,
                                    asked_.zero().group()};
        for (int64_t group : groups) {
          choice.group = group;
          if (!has(choice))
            continue;
          for (const Choice &scheduled : schedulesOf(choice))
            visit(scheduled);
        }
      }
    }
  }
}

std::vector<Choice> Space::schedulesOf(const Choice &choice) const {
  const Pipeline &asked = asked_.pipeline();
  const bool hasFile = !asked.schedule_file().empty();
  const int64_t cutInto = asked.cuts_size() > 0 ? asked.cuts_size() + 1 : 0;
  std::vector<Choice> all;
  for (const ScheduleChoice &schedule : kSchedules) {
    const bool isDefault = schedule.schedule == ONE_F_ONE_B;
    const bool isAsked = (!asked.has_schedule() || schedule.schedule == asked.schedule()) &&
                         ((asked.form() == H1 && !asked.has_schedule()) || schedule.form == asked.form());
    // The order of a file is nobody's; the default stands for it. One stage has no other.
    if (hasFile || choice.pipeline == 1 ? !isDefault : !isAsked)
      continue;
    for (int64_t chunks : hasFile ? std::vector<int64_t>{std::max<int64_t>(asked.chunks(), 1)} : chunksOf(schedule)) {
      if ((asked.chunks() > 0 && chunks != asked.chunks()) || (cutInto > 0 && chunks * choice.pipeline != cutInto))
        continue;
      Choice one = choice;
      one.schedule = schedule.schedule;
      one.form = schedule.form;
      one.chunks = chunks;
      all.push_back(one);
    }
  }
  return all;
}

std::vector<Choice> Space::neighbours(const Choice &choice) const {
  std::vector<Choice> near;
  const auto add = [&](const Choice &other) {
    if (has(other) && std::find(near.begin(), near.end(), other) == near.end() && !(other == choice))
      near.push_back(other);
  };
  for (int64_t zero = 0; zero <= 3; ++zero) {
    Choice other = choice;
    other.zero = zero;
    other.group = zero == 0 ? 0 : choice.group;
    add(other);
  }
  std::vector<int64_t> factors = primesOf(asked_.batch().global());
  for (int64_t factor : factors) {
    Choice other = choice;
    other.micro *= factor;
    add(other);
    other.micro = choice.micro % factor == 0 ? choice.micro / factor : choice.micro;
    add(other);
  }
  if (choice.zero > 0) {
    for (int64_t group : {int64_t(0), nodeRanks_ / choice.tensor / choice.context / choice.expert}) {
      Choice other = choice;
      other.group = group;
      add(other);
    }
  }
  // The factor `less` goes from one axis to another, and `more` comes back; also with micro-batches such that a rank
  // keeps the sequences that it had.
  const auto addMoved = [&](const AxisKey &from, const AxisKey &to, int64_t less, int64_t more) {
    Choice other = choice;
    other.*from.size = other.*from.size / less * more;
    other.*to.size = other.*to.size / more * less;
    other.group = asked_.zero().group();
    other.zero = sharesOut(other) ? other.zero : leastZero();
    add(other);
    const bool larger = to.size == &Choice::data || from.size == &Choice::pipeline;
    const bool smaller = !larger && (from.size == &Choice::data || to.size == &Choice::pipeline);
    const int64_t times = larger ? less : smaller ? more : 1, by = larger ? more : smaller ? less : 1;
    if (other.micro * times % by == 0) {
      other.micro = other.micro * times / by;
      add(other);
    }
  };
  const std::vector<int64_t> primes = primesOf(ranks_);
  for (int64_t factor : primes) {
    for (const AxisKey &from : kAxes) {
      for (const AxisKey &to : kAxes) {
        if (&from != &to && choice.*from.size % factor == 0)
          addMoved(from, to, factor, 1);
      }
    }
    // With more ranks, or fewer.
    for (const AxisKey &axis : kAxes) {
      Choice other = choice;
      other.*axis.size *= factor;
      add(other);
      if (choice.*axis.size % factor != 0)
        continue;
      other.*axis.size = choice.*axis.size / factor;
      other.group = asked_.zero().group();
      other.zero = sharesOut(other) ? other.zero : leastZero();
      add(other);
    }
  }
  // Two axes may exchange factors where neither can give up one alone: 63 stages and 5 data ranks, 35 and 9.
  for (int64_t less : primes) {
    for (int64_t more : primes) {
      for (const AxisKey &from : kAxes) {
        for (const AxisKey &to : kAxes) {
          if (&from != &to && less != more && choice.*from.size % less == 0 && choice.*to.size % more == 0)
            addMoved(from, to, less, more);
        }
      }
    }
  }
  return near;
}

Choice Space::overlapped(const Choice &choice) const {
  constexpr int64_t kTogether = 2;
  Choice other = choice;
  other.overlap = kTogether;
  other.micro *= asked_.batch().micro() > 0 ? kTogether : 1;
  return asked_.batch().overlap() == 0 && asked_.pipeline().schedule_file().empty() && has(other) ? other : choice;
}

Choice Space::apart(const Choice &choice) const {
  Choice other = choice;
  other.overlap = leastOverlap();
  other.micro /= asked_.batch().micro() > 0 ? choice.overlap / other.overlap : 1;
  return other;
}

std::vector<Choice> Space::starts() const {
  // Without schedules, which forEach counts last.
  std::vector<Choice> all, starts;
  const int64_t none = asked_.zero().has_stage() ? asked_.zero().stage() : -1;
  forEach([&](const Choice &any) {
    Choice choice = any;
    choice.schedule = ONE_F_ONE_B;
    choice.form = H1;
    choice.chunks = 1;
    if (choice.group == asked_.zero().group() && (all.empty() || !(all.back() == choice)))
      all.push_back(choice);
  });
  const auto best = [&](const std::function<double(const Choice &)> &worth) {
    const Choice *most = nullptr;
    double mostWorth = 0;
    for (const Choice &choice : all) {
      const double own = worth(choice);
      if (most == nullptr || own > mostWorth) {
        most = &choice;
        mostWorth = own;
      }
    }
    if (most != nullptr && std::find(starts.begin(), starts.end(), *most) == starts.end())
      starts.push_back(*most);
  };
  const auto zero = [&](const Choice &choice, int64_t stage) { return none >= 0 || choice.zero == stage ? 1.0 : 0.0; };
  const double ranks = double(ranks_), global = double(asked_.batch().global());
  // Data alone with ZeRO 1 and 3, in one micro-batch or as many as can be; tensor on a node; stages of nodes.
  best([&](const Choice &c) { return 8 * double(c.data) / ranks + zero(c, 1) * 2 + double(c.micro) / global; });
  best([&](const Choice &c) { return 8 * double(c.data) / ranks + zero(c, 3) * 2 - double(c.micro) / global; });
  best([&](const Choice &c) {
    const double fits = c.tensor == nodeRanks_ ? 1 : 0;
    return 8 * fits + 4 * double(c.ranks()) / ranks + zero(c, 1) - double(c.pipeline + c.context) / ranks -
           double(c.micro) / global;
  });
  best([&](const Choice &c) {
    const double fits = (c.tensor == nodeRanks_ ? 1 : 0) + (c.pipeline == ranks_ / nodeRanks_ ? 1 : 0);
    return 8 * fits + 4 * double(c.ranks()) / ranks + zero(c, 1) - double(c.micro) / global;
  });
  // What holds least: as many stages as there may be, and data ranks of few sequences.
  best([&](const Choice &c) {
    const double fits = c.tensor == nodeRanks_ ? 1 : 0;
    return 8 * fits + 4 * double(c.ranks()) / ranks + 4 * double(c.pipeline) / double(kMostStages) + zero(c, 1) -
           double(c.context + c.expert) / ranks - double(c.micro / c.data) / global;
  });
  return starts;
}

Job Space::jobOf(const Choice &choice) const {
  Job job = asked_;
  job.mutable_graph()->clear_auto_parallel();
  job.mutable_graph()->clear_keep_pins();
  job.clear_auto_();
  for (const AxisKey &axis : kAxes)
    (job.mutable_dist()->*axis.set)(choice.*axis.size);
  job.mutable_batch()->set_micro(choice.micro / choice.overlap);
  if (choice.overlap > 1)
    job.mutable_batch()->set_overlap(choice.overlap);
  if (choice.zero > 0 || job.has_zero()) {
    job.mutable_zero()->set_stage(choice.zero);
    job.mutable_zero()->set_group(choice.group);
  }
  if (choice.pipeline > 1 && job.pipeline().schedule_file().empty()) {
    job.mutable_pipeline()->set_schedule(choice.schedule);
    job.mutable_pipeline()->set_form(choice.form);
    job.mutable_pipeline()->set_chunks(choice.chunks);
  }
  if (!job.recompute().has_policy())
    job.mutable_recompute()->set_policy(Recompute::AUTO);
  ResolveJob(&job);
  return job;
}

std::string Space::keysOf(const Choice &choice) const {
  std::vector<std::string> keys;
  for (const AxisKey &axis : kAxes) {
    if ((asked_.dist().*axis.asked)() == 0 && choice.*axis.size > 1)
      keys.push_back(absl::StrCat(axis.key, "=", choice.*axis.size));
  }
  if (asked_.batch().micro() == 0)
    keys.push_back(absl::StrCat("batch.micro=", choice.micro / choice.overlap));
  if (asked_.batch().overlap() == 0 && choice.overlap > 1)
    keys.push_back(absl::StrCat("batch.overlap=", choice.overlap));
  if (choice.pipeline > 1 && !asked_.pipeline().has_schedule() && asked_.pipeline().schedule_file().empty()) {
    if (choice.schedule != ONE_F_ONE_B)
      keys.push_back(absl::StrCat("pipeline.schedule=", PipelineSchedule_Name(choice.schedule)));
    if (choice.form == V)
      keys.push_back("pipeline.form=V");
  }
  if (choice.pipeline > 1 && choice.schedule == INTERLEAVED && asked_.pipeline().chunks() == 0)
    keys.push_back(absl::StrCat("pipeline.chunks=", choice.chunks));
  if (!asked_.zero().has_stage() && choice.zero > 0)
    keys.push_back(absl::StrCat("zero.stage=", choice.zero));
  if (asked_.zero().group() == 0 && choice.group > 0)
    keys.push_back(absl::StrCat("zero.group=", choice.group));
  if (choice.layout > 0)
    keys.push_back("graph.pin=...");
  return absl::StrJoin(keys, " ");
}

} // namespace weft::compiler
