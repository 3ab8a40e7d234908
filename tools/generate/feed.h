// What a plan that goes on with sequences reads, and what it yields: tokens and their positions in, the next tokens
// out.
#ifndef WEFT_TOOLS_GENERATE_FEED_H_
#define WEFT_TOOLS_GENERATE_FEED_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/executor/ports.h"
#include "tools/generate/sampler.h"

namespace weft::generate {

// The sequences so far. The same on all processes, between steps.
struct Sequences {
  std::vector<std::vector<int32_t>> tokens;
  std::vector<int64_t> done;  // a sequence each: tokens that the caches have, or will have behind the next step
};

// Fills `tokens` and `positions`, [batch, chunk]: of each sequence those behind `done`, up to the chunk. Where there
// are fewer the last one stands again, at its own position, which changes nothing.
class Feed : public executor::BatchSource {
 public:
  explicit Feed(const Sequences* sequences) : sequences_(*sequences) {}
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override;

 private:
  const Sequences& sequences_;
};

// Chooses a token for each sequence of which a rank of this process has the logits, [batch, 1, vocabulary].
class Choices : public executor::ResultSink {
 public:
  // Of tokens below `vocabulary`: what lies beyond is no token. `sequences` outlives this.
  Choices(const Sequences* sequences, const Sampling& sampling, int64_t vocabulary)
      : sequences_(*sequences), sampling_(sampling), vocabulary_(vocabulary) {}
  absl::StatusOr<std::unique_ptr<executor::ResultField>> Bind(const executor::Port& port) override;

  struct Choice {
    int32_t sequence = 0, token = 0;
  };
  // Those of the last step.
  std::vector<Choice> Take();

 private:
  class Field;
  const Sequences& sequences_;
  const Sampling sampling_;
  const int64_t vocabulary_;
  std::mutex mutex_;
  std::vector<Choice> choices_;
};

}  // namespace weft::generate

#endif  // WEFT_TOOLS_GENERATE_FEED_H_
