// fuzz [--seed N] [--count M] [--print]: see tests/fuzz/README.md.
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/fuzz/case.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/trial.h"

namespace {

using weft::fuzz::Case;
using weft::fuzz::Trial;
using weft::fuzz::Verdict;

constexpr char kHelp[] = R"(fuzz: random layouts of random models against one rank

usage: fuzz [--seed N] [--count M] [--print]

  --seed N    the first case; the others follow (1)
  --count M   how many (100)
  --print     shows the cases instead of trying them
)";

std::string Text(const Case& a_case, const std::string& root) {
  return absl::StrCat(weft::fuzz::JobOf(a_case, "model.mlir"),
                      "# one rank: ", absl::StrJoin(weft::fuzz::OneRank(a_case), " "), "\n# layout, ", a_case.compute,
                      a_case.machine.search ? ", searched" : "", a_case.machine.fast_links ? ", fast links" : "", ": '",
                      absl::StrJoin(weft::fuzz::Many(a_case), "' '"), "'\n",
                      a_case.layout.order.empty() ? "" : absl::StrCat("--- schedule.txt\n", a_case.layout.order),
                      "--- model.mlir\n", weft::fuzz::TextOf(a_case.model, root));
}

// What failed, without the names and numbers that change with the case.
std::string KindOf(const Trial& trial) {
  if (trial.what.find("differs by") != std::string::npos) return "differs";
  std::string kind;
  bool quoted = false;
  for (char c : trial.what.substr(0, 400)) {
    if (c == '`') quoted = !quoted;
    if (!quoted && !std::isdigit(static_cast<unsigned char>(c))) kind += c;
  }
  return kind.substr(0, 100);
}

// Less and less of a failing case, as long as it fails in the same way.
Case Shrink(Case a_case, const Trial& trial, const std::string& root) {
  const std::string kind = KindOf(trial);
  for (bool shrunk = true; shrunk;) {
    shrunk = false;
    for (const Case& simpler : weft::fuzz::Simpler(a_case)) {
      const Trial again = weft::fuzz::Try(simpler, root);
      if (again.verdict != Verdict::kFails || KindOf(again) != kind) continue;
      a_case = simpler;
      shrunk = true;
      break;
    }
  }
  return a_case;
}

void Report(const Case& a_case, const Trial& trial, const std::string& root) {
  std::printf("\rFAILS: fuzz --seed %llu --count 1\n%s\n", static_cast<unsigned long long>(a_case.seed),
              trial.what.c_str());
  const Case less = Shrink(a_case, trial, root);
  std::printf("the least that fails alike: %s\n%s\n", weft::fuzz::Try(less, root).what.c_str(),
              Text(less, root).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  const auto [seed, count, print] = weft::fuzz::SeedsOf(argc, argv, kHelp);
  const std::string root = std::filesystem::current_path();
  uint64_t agree = 0, fail = 0;
  std::map<std::string, int> refused;
  double share = 0;
  for (uint64_t n = 0; n < count; ++n) {
    const Case a_case = weft::fuzz::RandomCase(seed + n);
    if (print) {
      std::printf("=== seed %llu\n%s\n", static_cast<unsigned long long>(a_case.seed), Text(a_case, root).c_str());
      continue;
    }
    const Trial trial = weft::fuzz::Try(a_case, root);
    if (trial.verdict == Verdict::kAgrees) ++agree;
    if (trial.verdict == Verdict::kRefused) ++refused[trial.what];
    if (trial.verdict == Verdict::kFails) {
      ++fail;
      Report(a_case, trial, root);
    } else {
      share = std::max(share, trial.share);
    }
    if (isatty(1) || (n + 1) % 100 == 0 || n + 1 == count) {
      std::printf("%s%llu of %llu: %llu agree, %llu fail, at most %.0f %% of the bound%s", isatty(1) ? "\r" : "",
                  static_cast<unsigned long long>(n + 1), static_cast<unsigned long long>(count),
                  static_cast<unsigned long long>(agree), static_cast<unsigned long long>(fail), share * 100,
                  isatty(1) ? "" : "\n");
    }
    std::fflush(stdout);
  }
  for (const auto& [what, times] : refused) std::printf("\nrefused %d times: %s", times, what.c_str());
  std::printf("\n");
  return fail == 0 ? 0 : 1;
}
