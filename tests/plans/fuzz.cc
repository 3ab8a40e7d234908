// fuzz [--seconds N] [--seed N] [--first N] [--count N] [--print N] [FILE.plan ...]
// Makes plans by chance and runs those that the verifier passes, until the time is over
// or one goes wrong; --print shows the N-th plan as text instead. A crash names the plan.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/plans/fuzzer.h"

namespace {

volatile int64_t now = 0;  // the plan under way

// Only what a signal handler may do.
void Crash(int signal) {
  char text[64] = "fuzz: crashed in plan ";
  size_t size = std::strlen(text);
  char digits[24];
  size_t count = 0;
  for (int64_t n = now; n > 0 || count == 0; n /= 10) digits[count++] = static_cast<char>('0' + n % 10);
  while (count > 0) text[size++] = digits[--count];
  text[size++] = '\n';
  (void)!write(2, text, size);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Print(const weft::plan::Fuzzer::Counts& counts) {
  std::printf("%lld plans made, %lld verified, %lld small enough, %lld run, %lld with the operators' kernels\n",
              static_cast<long long>(counts.made), static_cast<long long>(counts.verified),
              static_cast<long long>(counts.small), static_cast<long long>(counts.loaded),
              static_cast<long long>(counts.kernels));
  for (const auto& [base, ran] : counts.ran) {
    std::printf("  run %6lld  from %s\n", static_cast<long long>(ran), base.c_str());
  }
  for (const auto& [message, times] : counts.refused) {
    std::printf("  refused %lld  %s\n", static_cast<long long>(times), message.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int64_t seconds = 60, seed = 1, first = 0, count = INT64_MAX, print = -1;
  std::vector<std::string> files;
  const std::vector<std::pair<std::string, int64_t*>> flags = {
      {"--seconds", &seconds}, {"--seed", &seed}, {"--first", &first}, {"--count", &count}, {"--print", &print}};
  for (int i = 1; i < argc; ++i) {
    bool taken = false;
    for (const auto& [name, value] : flags) {
      if (argv[i] != name || i + 1 == argc) continue;
      *value = std::strtoll(argv[++i], nullptr, 10);
      taken = true;
      break;
    }
    if (!taken) files.push_back(argv[i]);
  }
  auto bases = weft::plan::ReadBases(files, std::filesystem::temp_directory_path().string());
  if (!bases.ok()) {
    std::fprintf(stderr, "fuzz: %s\n", bases.status().ToString().c_str());
    return 2;
  }
  weft::plan::Fuzzer fuzzer(*std::move(bases), static_cast<uint64_t>(seed), {});
  if (print >= 0) {
    std::string base;
    std::printf("%s", fuzzer.Make(print, &base).DebugString().c_str());
    return 0;
  }
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, &Crash);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int faults = 0;
  for (int64_t n = first; n - first < count && std::chrono::steady_clock::now() < end && faults < 10; ++n) {
    now = n;
    const absl::Status status = fuzzer.Try(n);
    if (status.ok()) continue;
    ++faults;
    std::printf("FAULT %s\n", status.ToString().c_str());
    std::fflush(stdout);
  }
  Print(fuzzer.counts());
  return faults == 0 ? 0 : 1;
}
