// Which evaluation of a training was the best, and whether the training ends by it.
#ifndef WEFT_TOOLS_RUN_BEST_H_
#define WEFT_TOOLS_RUN_BEST_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tools/run/record.h"

namespace weft::run {

// What is asked of it.
struct BestRule {
  std::string metric;  // empty: nothing is the best, and nothing ends
  bool largest = false;
  std::optional<double> stop_at;
  int64_t patience = 0;  // 0: without end
  std::string of;        // the function and what it reads: values of others are not compared
};

class Best {
 public:
  explicit Best(BestRule rule) : rule_(std::move(rule)) {}

  // The metric after a step. True if it is better than all before; what is no number never is.
  bool Take(int64_t step, double value);

  // The step of the best; -1 for none.
  int64_t step() const { return step_; }
  double value() const { return value_; }
  // "accuracy 0.8656 after step 5628".
  std::string Text() const;
  // Why the training ends, for people; "" if it goes on.
  std::string End() const;

  // As a checkpoint has it. Read() takes it up again; false if it is of another rule's metric, or none.
  void AddTo(Record& record) const;
  bool Read(const Record& record);

 private:
  bool IsBetter(double value, double than) const { return rule_.largest ? value > than : value < than; }

  const BestRule rule_;
  int64_t step_ = -1;
  double value_ = 0;
  int64_t since_ = 0;  // evaluations that were no better
};

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_BEST_H_
