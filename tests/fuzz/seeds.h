// What both fuzzers take from a command line.
#ifndef WEFT_TESTS_FUZZ_SEEDS_H_
#define WEFT_TESTS_FUZZ_SEEDS_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace weft::fuzz {

struct Seeds {
  uint64_t first = 1, count = 100;
  bool print = false;  // the cases are shown, not tried
};

// The seeds of `[--seed N] [--count M] [--print]`. Ends the process for --help, with status 0, and for anything else,
// with status 2; either prints `help`.
inline Seeds SeedsOf(int argc, char** argv, const char* help) {
  Seeds seeds;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--print") {
      seeds.print = true;
    } else if ((flag == "--seed" || flag == "--count") && i + 1 < argc) {
      (flag == "--seed" ? seeds.first : seeds.count) = std::strtoull(argv[++i], nullptr, 10);
    } else {
      std::fputs(help, flag == "--help" ? stdout : stderr);
      std::exit(flag == "--help" ? 0 : 2);
    }
  }
  return seeds;
}

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_SEEDS_H_
