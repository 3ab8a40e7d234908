// zoo_fuzz [--seed N] [--count M] [--print]: see tests/fuzz/README.md.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "tests/fuzz/seeds.h"
#include "tests/fuzz/zoo.h"

namespace {

constexpr char kHelp[] = R"(zoo_fuzz: random layouts of the jobs in models/, over links of any rate

usage: zoo_fuzz [--seed N] [--count M] [--print]

  --seed N    the first case; the others follow (1)
  --count M   how many (100)
  --print     shows the cases instead of trying them
)";

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace

int main(int argc, char** argv) {
  const auto [seed, count, print] = weft::fuzz::SeedsOf(argc, argv, kHelp);
  const std::string root = std::filesystem::current_path();
  std::string folder = std::filesystem::temp_directory_path() / "weft-fuzz.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    std::fprintf(stderr, "zoo_fuzz: %s: cannot make a folder: %s\n", folder.c_str(), std::strerror(errno));
    return 1;
  }
  uint64_t verified = 0, refused = 0, failed = 0;
  for (uint64_t n = seed; n < seed + count; ++n) {
    const weft::fuzz::ZooCase a_case = weft::fuzz::RandomZooCase(n);
    // In front of the try, so that it is known at which case the compiler crashed.
    std::printf("seed %llu: %s\n", static_cast<unsigned long long>(n), weft::fuzz::TextOf(a_case).c_str());
    std::fflush(stdout);
    if (print) continue;
    const double begin = Seconds();
    const absl::Status status = weft::fuzz::Prove(a_case, root, folder);
    const bool wrong = absl::IsInvalidArgument(status);
    ++(status.ok() ? verified : wrong ? refused : failed);
    std::printf("  %s, %.2f s: %s\n",
                status.ok() ? "verifies"
                : wrong     ? "refused"
                            : "FAILS",
                Seconds() - begin, std::string(status.message()).c_str());
  }
  std::filesystem::remove_all(folder);
  if (print) return 0;
  std::printf("%llu layouts: %llu verify, %llu are refused, %llu fail\n", static_cast<unsigned long long>(count),
              static_cast<unsigned long long>(verified), static_cast<unsigned long long>(refused),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
