// Tries a case: its layout against one rank.
#ifndef WEFT_TESTS_FUZZ_TRIAL_H_
#define WEFT_TESTS_FUZZ_TRIAL_H_

#include <string>

#include "tests/fuzz/case.h"
#include "tests/fuzz/train.h"

namespace weft::fuzz {

enum class Verdict { kAgrees = 'a', kRefused = 'r', kFails = 'f' };

struct Trial {
  Verdict verdict = Verdict::kFails;
  std::string what;  // what failed, or the words of the refusal
  double share = 0;  // of what rounding may do, the most that was found
};

// In a process of its own, so that a crash or a hang is a verdict too. `root` is the folder that models/ is in. Called
// while this process has one thread.
Trial Try(const Case& a_case, const std::string& root);

// What differs by more than rounding may do, or is empty. `share` gets the largest part of the bound.
//
// The bound is measured: bfloat16 rounds to 2^-8 where float32 rounds to 2^-24, so what bfloat16 changes on one rank
// says how much each number magnifies the rounding of all before it. Of that change, float32 may make
//   2^-16, as it rounds so much finer,
//   x 2^5, as a layout adds sums of up to 2^10 numbers in another order: sqrt(n) roundings,
//   x 2^4, as the change that was measured is one draw of chance, and the difference that is checked another: of the
//     three losses all change by chance by less than a quarter of what is checked in about one narrow case of a hundred
//     (4 of some 450), and by less than a 16th in the cube's share of that, one of some six thousand,
// that is 2^-7. Where the run itself is narrow, a layout rounds anew what it cuts, as finely as the one rank does: 2^4
// alone is left. Such a run finds what is wrong, not what is a little off.
//
// A tensor of one number may
// have changed little by chance, so each counts as changed as much as half of its kind at least, in parts of its
// largest number; the kinds are the parameters and each sort of the optimizer's state. Beside that stand what float32
// sums round in both runs: 2^3 roundings of the number itself (of a parameter, one or two a step), and 2^5, sqrt(n)
// again, of the largest update, which is all that is left of a sum whose terms cancel, such as the gradient of what a
// softmax takes away.
std::string Differences(const Result& many, const Result& one, const Result& disturbed, bool narrow, double* share);

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_TRIAL_H_
