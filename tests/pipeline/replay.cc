#include "tests/pipeline/replay.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "runtime/plan/program.h"
#include "runtime/plan/tiles.h"

namespace weft::tests {
namespace {

constexpr size_t kMostFaults = 10;

class Replayer {
 public:
  Replayer(const plan::Plan& plan, const Trace& trace)
      : plan_(plan), trace_(trace), programs_(plan::ProgramsOf(plan)) {}

  std::vector<std::string> Run() {
    FindRanks();
    for (int rank = 0; rank < static_cast<int>(stage_of_.size()); ++rank) CheckStreams(rank);
    if (!faults_.empty()) return faults_;  // the acts are not those of the plan
    for (int rank = 0; rank < static_cast<int>(stage_of_.size()); ++rank) {
      CheckSteps(rank);
      for (int64_t step = 0; step < steps_; ++step) CheckRegisters(rank, step);
    }
    for (const plan::Transfer& transfer : plan_.transfers()) CheckTransfer(transfer);
    return faults_;
  }

 private:
  using Key = std::tuple<int, int32_t, int64_t, int64_t>;  // rank, actor, step, micro-batch

  void Fault(const std::string& text) {
    if (faults_.size() < kMostFaults) faults_.push_back(text);
  }

  const plan::Program& ProgramOf(int rank) const { return programs_[stage_of_.at(rank)]; }
  int64_t micro_batches() const { return plan_.header().micro_batches(); }

  void FindRanks() {
    for (int stage = 0; stage < plan_.stages_size(); ++stage) {
      for (int32_t rank : plan_.placements(plan_.stages(stage).placement()).ranks()) stage_of_[rank] = stage;
    }
    for (const auto& [track, acts] : trace_) {
      for (const Happened& act : acts) steps_ = std::max(steps_, act.step + 1);
    }
  }

  // The acts of a stream in a step: actor and micro-batch.
  static std::vector<std::pair<int32_t, int64_t>> OrderOf(const plan::Stream& stream) {
    std::vector<std::pair<int32_t, int64_t>> order;
    for (const plan::Run& run : stream.runs()) {
      for (int64_t turn = 0; turn < run.repeat(); ++turn) {
        for (int k = 0; k < run.actors_size(); ++k) {
          order.push_back({run.actors(k), plan::MicroBatchOf(run, k, turn)});
        }
      }
    }
    return order;
  }

  void CheckStreams(int rank) {
    const plan::Stage& stage = *ProgramOf(rank).stage;
    for (const plan::Stream& stream : stage.streams()) {
      const std::string where = absl::StrCat("rank ", rank, " stream ", stream.name(), ": ");
      const auto order = OrderOf(stream);
      const auto found = trace_.find({rank, stream.name()});
      const size_t got = found == trace_.end() ? 0 : found->second.size();
      if (got != order.size() * steps_) {
        Fault(absl::StrCat(where, "expected ", order.size() * steps_, " acts, got ", got));
        continue;
      }
      for (size_t i = 0; i < got; ++i) {
        const auto& [actor, micro_batch] = order[i % order.size()];
        const int64_t step = static_cast<int64_t>(i / order.size());
        const Happened& act = found->second[i];
        const std::string& name = stage.actors(actor).name();
        if (act.actor != name || act.micro_batch != micro_batch || act.step != step) {
          Fault(absl::StrCat(where, "expected ", name, " of micro-batch ", micro_batch, " in step ", step, ", got ",
                             act.actor, " of ", act.micro_batch, " in ", act.step));
        }
        if (act.end < act.begin || (i > 0 && act.begin < found->second[i - 1].end)) {
          Fault(absl::StrCat(where, name, " begins before the act before it has ended"));
        }
        happened_[{rank, actor, step, micro_batch}] = &act;
      }
    }
  }

  const Happened& Act(int rank, int32_t actor, int64_t step, int64_t micro_batch) const {
    return *happened_.at({rank, actor, step, ProgramOf(rank).micro(actor) ? micro_batch : 0});
  }

  void CheckSteps(int rank) {
    std::map<int64_t, std::pair<int64_t, int64_t>> spans;
    for (const auto& [key, act] : happened_) {
      if (std::get<0>(key) != rank) continue;
      auto [it, added] = spans.try_emplace(act->step, act->begin, act->end);
      it->second = {std::min(it->second.first, act->begin), std::max(it->second.second, act->end)};
    }
    for (int64_t step = 1; step < steps_; ++step) {
      if (spans.at(step).first < spans.at(step - 1).second) {
        Fault(absl::StrCat("rank ", rank, ": step ", step, " begins before the one before it has ended"));
      }
    }
  }

  void Before(int rank, const std::string& why, const Happened& first, const Happened& second) {
    if (second.begin >= first.end) return;
    Fault(absl::StrCat("rank ", rank, " step ", first.step, ": ", second.actor, " of micro-batch ", second.micro_batch,
                       " begins before ", first.actor, " of ", first.micro_batch, " has ended, ", why));
  }

  void CheckRegisters(int rank, int64_t step) {
    const plan::Program& program = ProgramOf(rank);
    for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
      const int32_t writer = program.writer[b];
      if (writer < 0) continue;
      const std::string& name = program.buffer(b).name();
      const int64_t last = micro_batches() - 1;
      for (int32_t reader : program.readers[b]) {
        // A step actor reads what the last micro-batch wrote.
        const bool micro = program.micro(reader);
        for (int64_t i = micro ? 0 : last; i <= last; ++i) {
          Before(rank, absl::StrCat("which fills ", name), Act(rank, writer, step, i), Act(rank, reader, step, i));
        }
        const int64_t slots = program.slots[b];
        for (int64_t i = slots; i <= last && micro && program.micro(writer); ++i) {
          Before(rank, absl::StrCat("which reads a slot of ", name), Act(rank, reader, step, i - slots),
                 Act(rank, writer, step, i));
        }
      }
    }
  }

  // The actor of a stage that is an end of a transfer.
  int32_t EndOf(int stage, const plan::Transfer& transfer, bool sends) const {
    for (int32_t a = 0; a < plan_.stages(stage).actors_size(); ++a) {
      const plan::Actor& actor = plan_.stages(stage).actors(a);
      const bool is = sends ? actor.has_send() : actor.has_receive();
      if (is && &plan_.transfers(sends ? actor.send() : actor.receive()) == &transfer) return a;
    }
    return -1;
  }

  void CheckTransfer(const plan::Transfer& transfer) {
    const int32_t send = EndOf(transfer.source_stage(), transfer, true);
    const int32_t receive = EndOf(transfer.target_stage(), transfer, false);
    const auto& sources = programs_[transfer.source_stage()].placement->ranks();
    const auto& targets = programs_[transfer.target_stage()].placement->ranks();
    const int64_t acts = programs_[transfer.source_stage()].micro(send) ? micro_batches() : 1;
    for (const plan::Piece& piece : plan::PiecesOf(plan_, transfer)) {
      const int from = sources[static_cast<int>(piece.source)], to = targets[static_cast<int>(piece.target)];
      for (int64_t step = 0; step < steps_; ++step) {
        for (int64_t i = 0; i < acts; ++i) {
          const Happened &sent = Act(from, send, step, i), &received = Act(to, receive, step, i);
          if (received.end < sent.begin || sent.end < received.begin) {
            Fault(absl::StrCat("step ", step, " micro-batch ", i, ": ", sent.actor, " of rank ", from,
                               " is not under way while ", received.actor, " of rank ", to, " is"));
          }
        }
      }
    }
  }

  const plan::Plan& plan_;
  const Trace& trace_;
  std::vector<plan::Program> programs_;
  std::map<int, int> stage_of_;
  std::map<Key, const Happened*> happened_;
  int64_t steps_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace

absl::StatusOr<Trace> ReadTrace(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  google::protobuf::Struct json;
  if (!google::protobuf::util::JsonStringToMessage(text.str(), &json).ok()) {
    return absl::InvalidArgumentError(path + ": expected a timeline");
  }
  std::map<int, std::string> streams;  // by thread
  Trace trace;
  for (const google::protobuf::Value& value : json.fields().at("traceEvents").list_value().values()) {
    const auto& event = value.struct_value().fields();
    const std::string& phase = event.at("ph").string_value();
    if (phase != "M" && phase != "X") continue;  // arrows and counters
    const auto& args = event.at("args").struct_value().fields();
    const int rank = static_cast<int>(event.at("pid").number_value());
    const int thread = static_cast<int>(event.at("tid").number_value());
    if (event.at("name").string_value() == "thread_name") streams[thread] = args.at("name").string_value();
    if (phase != "X") continue;
    Happened act;
    act.actor = event.at("name").string_value();
    act.step = static_cast<int64_t>(args.at("step").number_value()) - 1;  // a file counts from 1
    act.micro_batch = static_cast<int64_t>(args.at("micro_batch").number_value());
    act.begin = std::llround(event.at("ts").number_value() * 1e3);  // three digits behind the point
    act.end = act.begin + std::llround(event.at("dur").number_value() * 1e3);
    trace[{rank, streams.at(thread)}].push_back(act);
  }
  return trace;
}

std::vector<std::string> Replay(const plan::Plan& plan, const Trace& trace) { return Replayer(plan, trace).Run(); }

}  // namespace weft::tests
