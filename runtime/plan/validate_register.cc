#include "runtime/plan/names.h"
#include "runtime/plan/validate_parts.h"

namespace weft::plan {
namespace {

constexpr int32_t kNobody = -1;
constexpr int32_t kSeveral = -2;

// Which actor touches the bytes of a root: kNobody, one actor or kSeveral.
std::vector<int32_t> TouchersOf(const Program& program) {
  std::vector<int32_t> touchers(program.root.size(), kNobody);
  for (size_t a = 0; a < program.work.size(); ++a) {
    const auto touch = [&](int32_t b) {
      int32_t& toucher = touchers[program.root[b]];
      toucher = toucher == kNobody || toucher == static_cast<int32_t>(a) ? static_cast<int32_t>(a) : kSeveral;
    };
    for (const Work& work : program.work[a]) {
      for (int32_t b : work.reads) touch(b);
      for (int32_t b : work.writes) touch(b);
    }
  }
  return touchers;
}

class RegisterCheck {
 public:
  explicit RegisterCheck(const Program& program)
      : program_(program),
        touchers_(TouchersOf(program)),
        listed_(program.root.size(), -1),
        made_(program.root.size(), -1),
        written_(program.root.size(), -1),
        exact_(program.root.size(), -1) {}

  absl::Status Run() {
    for (int32_t a = 0; a < program_.stage->actors_size(); ++a) {
      if (absl::Status status = CheckLists(a); !status.ok()) {
        return Under(absl::StrCat("actor `", program_.actor(a).name(), "`"), status);
      }
      if (absl::Status status = CheckWork(a); !status.ok()) return status;
    }
    return CheckSlots();
  }

 private:
  const std::string& Name(int32_t b) const { return program_.buffer(b).name(); }

  absl::Status CheckLists(int32_t a) {
    const Actor& actor = program_.actor(a);
    for (int32_t b : actor.writes()) {
      if (program_.persistent[b]) return InvalidPlan("writes `", Name(b), "`: expected a register, got state");
      if (program_.writer[b] != a) {
        // Building the program kept the last writer; this is an earlier one.
        return InvalidPlan("writes `", Name(b), "`: expected one writer a register, got also `",
                           program_.actor(program_.writer[b]).name(), "`");
      }
      listed_[program_.root[b]] = made_[program_.root[b]] = exact_[b] = a;
    }
    for (int32_t b : actor.reads()) {
      if (program_.persistent[b]) return InvalidPlan("reads `", Name(b), "`: expected a register, got state");
      const int32_t writer = program_.writer[b];
      if (writer < 0) return InvalidPlan("reads `", Name(b), "`: expected a register that an actor writes, got none");
      if (writer == a) return InvalidPlan("reads `", Name(b), "`: expected a register of another actor, got its own");
      listed_[program_.root[b]] = exact_[b] = a;
    }
    return absl::OkStatus();
  }

  absl::Status CheckWork(int32_t a) {
    for (size_t w = 0; w < program_.work[a].size(); ++w) {
      const Work& work = program_.work[a][w];
      for (int32_t b : work.reads) {
        // What a store has left of the micro-batch before: the fetch would wait for this one's.
        if (b == work.accumulator && !program_.on_device[b]) continue;
        if (absl::Status status = CheckOperand(a, b, false); !status.ok()) return Under(program_.Where(a, w), status);
      }
      for (int32_t b : work.writes) {
        if (absl::Status status = CheckOperand(a, b, true); !status.ok()) return Under(program_.Where(a, w), status);
        written_[program_.root[b]] = a;
      }
      if (work.accumulator >= 0 && Stays(work.accumulator) && program_.buffer(work.accumulator).slots() > 1) {
        return Under(program_.Where(a, w), InvalidPlan("accumulator `", Name(work.accumulator),
                                                       "`: expected 1 slot, which all micro-batches add to, got ",
                                                       program_.buffer(work.accumulator).slots()));
      }
    }
    for (int32_t b : program_.actor(a).writes()) {
      if (written_[program_.root[b]] == a) continue;
      return InvalidPlan("actor `", program_.actor(a).name(), "`: writes `", Name(b),
                         "`: expected work that writes it, got none");
    }
    return absl::OkStatus();
  }

  // Whether a sum is on the device from one micro-batch to the next: not what a tier brings to each.
  bool Stays(int32_t sum) const {
    const int32_t maker = program_.writer[sum];
    return maker < 0 || !MovesTiers(program_.actor(maker));
  }

  absl::Status CheckOperand(int32_t a, int32_t b, bool write) {
    const int32_t root = program_.root[b];
    if (!program_.micro(a) && program_.buffer(b).slots() > 1 && exact_[program_.SourceOf(b)] != a) {
      return InvalidPlan(
          "operand `", Name(b),
          "`: expected itself, or what it is a view of, among the reads or writes of a step actor, as it has ",
          program_.buffer(b).slots(), " slots");
    }
    if (program_.persistent[b] || touchers_[root] == a) return absl::OkStatus();
    if ((write ? made_ : listed_)[root] == a) return absl::OkStatus();
    return InvalidPlan(write ? "output `" : "input `", Name(b), "`: expected among the actor's ",
                       write ? "writes" : "reads", ", as other actors use it");
  }

  // Slots belong to what is made in each micro-batch; the alias of one is as good.
  absl::Status CheckSlots() const {
    std::vector<bool> is_register(program_.root.size(), false);
    for (size_t b = 0; b < program_.root.size(); ++b) {
      const int32_t writer = program_.writer[b];
      if (writer < 0) continue;
      is_register[program_.root[b]] = true;
      if (program_.micro(writer) || program_.buffer(b).slots() == 1) continue;
      return InvalidPlan("buffer `", Name(b), "`: slots: expected 1, as `", program_.actor(writer).name(),
                         "` makes it once a step, got ", program_.buffer(b).slots());
    }
    for (size_t b = 0; b < program_.root.size(); ++b) {
      if (program_.buffer(b).slots() == 1 || is_register[program_.root[b]]) continue;
      const int32_t toucher = touchers_[program_.root[b]];
      if (toucher >= 0 && program_.micro(toucher)) continue;
      return InvalidPlan("buffer `", Name(b), "`: slots: expected 1, as no micro actor makes it, got ",
                         program_.buffer(b).slots());
    }
    return absl::OkStatus();
  }

  const Program& program_;
  const std::vector<int32_t> touchers_;
  // By root: the last actor seen that lists it at all, lists it among its
  // writes, or has work that writes it. By buffer: that lists the buffer itself.
  std::vector<int32_t> listed_, made_, written_, exact_;
};

}  // namespace

absl::Status CheckRegisters(const Program& program) { return RegisterCheck(program).Run(); }

}  // namespace weft::plan
