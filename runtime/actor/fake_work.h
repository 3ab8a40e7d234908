// Work for tests of actors: plain functions, and a thread for every stream.
#ifndef WEFT_RUNTIME_ACTOR_FAKE_WORK_H_
#define WEFT_RUNTIME_ACTOR_FAKE_WORK_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "runtime/actor/program.h"
#include "runtime/actor/spec.h"

namespace weft::actor {

class FakeWork : public Work {
 public:
  explicit FakeWork(std::function<absl::Status(const Act&)> run) : run_(std::move(run)) {}
  absl::Status Run(const Act& act) override { return run_(act); }
  std::string Waiting() const override { return waiting_; }
  void set_waiting(std::string waiting) { waiting_ = std::move(waiting); }

 private:
  std::function<absl::Status(const Act&)> run_;
  std::string waiting_;
};

// Owns the works of a spec under construction.
struct FakeProgram {
  ProgramSpec spec;
  std::vector<std::unique_ptr<FakeWork>> works;

  int AddRegister(const std::string& name, int64_t slots = 1) {
    spec.registers.push_back({name, slots});
    return static_cast<int>(spec.registers.size()) - 1;
  }
  int AddActor(const std::string& name, int stream, std::vector<int> reads, std::vector<int> writes,
               std::function<absl::Status(const Act&)> run, Section section = Section::kMicro) {
    works.push_back(std::make_unique<FakeWork>(std::move(run)));
    spec.actors.push_back({name, stream, section, std::move(reads), std::move(writes), works.back().get()});
    return static_cast<int>(spec.actors.size()) - 1;
  }
};

// Runs a step with a thread for each stream of each program and returns what
// the streams returned, the first error first.
inline absl::Status RunStep(const std::vector<Program*>& programs, int64_t step) {
  std::vector<std::thread> threads;
  std::vector<absl::Status> results(64);
  size_t next = 0;
  for (Program* program : programs) {
    program->BeginStep();
    for (int s = 0; s < program->streams(); ++s) {
      threads.emplace_back([program, s, step, result = &results[next++]] { *result = program->RunStream(s, step); });
    }
  }
  for (std::thread& thread : threads) thread.join();
  absl::Status all;
  for (const absl::Status& result : results) all.Update(result);
  return all;
}

}  // namespace weft::actor

#endif  // WEFT_RUNTIME_ACTOR_FAKE_WORK_H_
