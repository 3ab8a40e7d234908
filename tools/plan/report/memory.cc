#include "runtime/measure/memory.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "runtime/measure/alike.h"
#include "runtime/plan/names.h"
#include "tools/plan/report/parts.h"

namespace weft::tools {
namespace {

constexpr int kBins = 1200;  // about as many as a screen has columns

// The acts of one stage in the order of their ends, and these ends.
struct StageActs {
  std::vector<plan::StageAct> acts;
  std::vector<double> ends_s;
};

std::vector<StageActs> ByStage(const Reported& it) {
  std::vector<StageActs> stages(it.programs.size());
  for (const sim::TimedAct& act : it.report.acts) {
    stages[act.stage].acts.push_back({act.actor, static_cast<int32_t>(act.micro_batch)});
    stages[act.stage].ends_s.push_back(act.end_s);
  }
  return stages;
}

int64_t Sum(const plan::BytesByCategory& bytes) { return std::accumulate(bytes.begin(), bytes.end(), int64_t{0}); }

// Of each part of the step the moment of most bytes.
Json BinsJson(const plan::Course& course, const StageActs& acts, double step_s) {
  std::vector<plan::BytesByCategory> bins(kBins, plan::BytesByCategory{});
  double begin = 0;
  for (size_t a = 0; a < acts.acts.size(); ++a) {
    const bool last = a + 1 == acts.acts.size();
    const double end = last ? step_s : acts.ends_s[a];
    const auto bin = [&](double at) { return std::clamp(static_cast<int>(at / step_s * kBins), 0, kBins - 1); };
    for (int i = bin(begin); i <= bin(end); ++i) {
      if (Sum(course.most[a]) > Sum(bins[i])) bins[i] = course.most[a];
    }
    begin = end;
  }
  Json json = Json::object();
  for (int k = 0; k < plan::kCategories; ++k) {
    std::vector<int64_t> bytes;
    for (const plan::BytesByCategory& bin : bins) bytes.push_back(bin[k]);
    json[plan::NameOf(static_cast<plan::Category>(k))] = bytes;
  }
  return json;
}

// The lives of one root, those that follow each other by a micro-batch together.
class Runs {
 public:
  Runs(const plan::Program& program, const std::vector<plan::StageAct>& acts) : program_(program), acts_(acts) {}

  void Add(const plan::Course::Life& life) {
    const plan::StageAct &first = acts_[life.first], &last = acts_[life.last];
    const Run run{first.actor, first.micro_batch, last.actor, last.micro_batch, life.slot, 1};
    // What is under way at the same time ends in turn: look at the last few.
    const size_t since = runs_.size() > 4 ? runs_.size() - 4 : 0;
    for (size_t i = runs_.size(); i-- > since;) {
      if (Follows(runs_[i], run)) {
        ++runs_[i].count;
        return;
      }
    }
    runs_.push_back(run);
  }

  Json ToJson() const {
    Json json = Json::array();
    for (const Run& run : runs_) {
      json.push_back({run.first, run.first_micro_batch, run.last, run.last_micro_batch, run.slot, run.count});
    }
    return json;
  }

 private:
  struct Run {
    int32_t first, first_micro_batch, last, last_micro_batch, slot, count;
  };

  // A life of a STEP actor, whose micro-batch is 0, is none of several.
  bool Follows(const Run& run, const Run& next) const {
    const int32_t n = run.count;
    if (!program_.micro(run.first) || !program_.micro(run.last)) return false;
    return next.first == run.first && next.last == run.last && next.first_micro_batch == run.first_micro_batch + n &&
           next.last_micro_batch == run.last_micro_batch + n;
  }

  const plan::Program& program_;
  const std::vector<plan::StageAct>& acts_;
  std::vector<Run> runs_;
};

Json TensorsJson(const plan::Program& program, const plan::Course& course, const std::vector<plan::StageAct>& acts) {
  std::vector<Runs> lives(program.root.size(), Runs(program, acts));
  std::vector<bool> lived(program.root.size(), false);
  for (const auto* all : {&course.lives, &course.scratch}) {
    for (const plan::Course::Life& life : *all) {
      lives[life.root].Add(life);
      lived[life.root] = true;
    }
  }
  const std::vector<plan::Category> categories = plan::CategoriesOf(program);
  const plan::Origins origins(program);
  Json json = {{"name", Json::array()},  {"type", Json::array()},     {"category", Json::array()},
               {"bytes", Json::array()}, {"location", Json::array()}, {"offsets", Json::array()},
               {"lives", Json::array()}};
  for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
    if (!program.StaysOnDevice(b) && !lived[b]) continue;
    std::vector<int64_t> offsets;
    for (int32_t slot = 0; slot < program.slots[b]; ++slot) offsets.push_back(program.RangeOf(b, slot).begin);
    json["name"].push_back(program.buffer(b).name());
    json["type"].push_back(plan::LocalTypeText(*program.placement, program.buffer(b)));
    json["category"].push_back(static_cast<int>(categories[b]));
    json["bytes"].push_back(program.slot_bytes[b]);
    json["location"].push_back(origins.Of(b));
    json["offsets"].push_back(offsets);
    json["lives"].push_back(program.persistent[b] ? Json() : lives[b].ToJson());
  }
  return json;
}

}  // namespace

Json MemoryJson(const Reported& it) {
  const std::vector<StageActs> stages = ByStage(it);
  Json json = {{"categories", Json::array()}, {"stages", Json::array()}};
  for (int k = 0; k < plan::kCategories; ++k) {
    json["categories"].push_back(plan::NameOf(static_cast<plan::Category>(k)));
  }
  for (const plan::Program& program : it.programs) {
    const StageActs& acts = stages[program.index];
    const plan::Course course = plan::CourseOf(program, acts.acts);
    json["stages"].push_back(
        {{"live", BinsJson(course, acts, it.report.step_s)}, {"tensors", TensorsJson(program, course, acts.acts)}});
  }
  return json;
}

}  // namespace weft::tools
