// A case: a model, how it is trained, and the layout under test; and what is known of it before it is tried.
#ifndef WEFT_TESTS_FUZZ_CASE_H_
#define WEFT_TESTS_FUZZ_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/model.h"
#include "tests/fuzz/train.h"

namespace weft::fuzz {

// Overrides of a job, "dist.data=2".
using Overrides = std::vector<std::string>;

struct Layout {
  int64_t data = 1, tensor = 1, context = 1, expert = 1, stages = 1;
  int64_t micro_batches = 1;
  int64_t micro = 4;     // sequences a micro-batch
  int64_t last = 4;      // those of a step's last one
  std::string schedule;  // empty: the job says nothing
  int64_t chunks = 0;    // 0: the job says nothing
  std::vector<std::string> cuts;
  std::string order;            // what its schedule file has; empty: there is none
  bool whole = true;            // each stage has every unit there
  int64_t zero = 0, group = 0;  // 0: the job says nothing
  std::string recompute;        // empty: the job says nothing
  bool fusion = true;
  bool broadcast = false;           // graph.inference
  int64_t overlap = 0;              // micro-batches under way together; 0: the job says nothing
  bool ring = false;                // graph.ring: keys go round wherever they can
  std::string offload;              // zero.offload; empty: the job says nothing
  bool by_host = false;             // zero.update
  bool kept = false;                // recompute.offload
  std::vector<std::string> spared;  // layers that keep on the device what they keep
  std::vector<int64_t> meshes;      // of every stage its data axis, where they differ
};

// Of a step.
int64_t SamplesOf(const Layout& layout);

struct Case {
  uint64_t seed = 0;
  Model model;
  Layout layout;
  std::string optimizer;        // its message
  std::string compute = "F32";  // of the run under test and of the one rank's
  Machine machine;              // of the run under test
};

// Depends on the seed alone.
Case RandomCase(uint64_t seed);

// A layout of a model of which this is known. It may be forbidden. What AddOverlap() adds, and then AddTiers(), is
// drawn last: what other seeds have made is made again.
Layout RandomLayout(Dice& dice, const Traits& traits);
void AddOverlap(Dice& dice, Layout& layout);
void AddTiers(Dice& dice, const Traits& traits, Layout& layout);

// What both runs' jobs have in common, as text; `file` is the model file. The schedule file is beside it.
std::string JobOf(const Case& a_case, const std::string& file);

// What the job of one rank adds, and that of the layout. One rank takes the whole batch at once, unless the numbers
// depend on how it is cut.
Overrides OneRank(const Case& a_case);
Overrides Many(const Case& a_case, const std::string& schedule_file = "schedule.txt");
Overrides OverridesOf(const Layout& layout, const std::string& schedule_file);

// What forbids the layout, in words of the compiler's refusal, which must have some of them; none: it must not refuse.
std::vector<std::string> Forbidden(const Case& a_case);

// The same case with one thing less, every way that there is: the simplest first.
std::vector<Case> Simpler(const Case& a_case);

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_CASE_H_
