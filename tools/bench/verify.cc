// Prints how long loading, parsing, validating and verifying each of the plans takes that it is given, in
// milliseconds of a core.
#include "runtime/proof/verify.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include "runtime/plan/load.h"
#include "runtime/plan/validate.h"

namespace {

using weft::plan::Plan;

// Of this process, so far.
double Seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The least of several times, in milliseconds.
class Least {
 public:
  void Add(double seconds) { least_ = least_ < 0 ? 1e3 * seconds : std::min(least_, 1e3 * seconds); }
  double ms() const { return least_; }

 private:
  double least_ = -1;
};

int MeasureFile(const char* path) {
  Least load, parse, validate, verify;
  for (int i = 0; i < 5; ++i) {
    google::protobuf::Arena arena;
    auto* plan = google::protobuf::Arena::CreateMessage<Plan>(&arena);
    double start = Seconds();
    absl::Status status = weft::plan::LoadInto(path, *plan);
    load.Add(Seconds() - start);
    const std::string bytes = plan->SerializeAsString();
    auto* again = google::protobuf::Arena::CreateMessage<Plan>(&arena);
    start = Seconds();
    again->ParseFromString(bytes);
    parse.Add(Seconds() - start);
    start = Seconds();
    if (status.ok()) status = weft::plan::Validate(*plan);
    validate.Add(Seconds() - start);
    start = Seconds();
    if (status.ok()) status = weft::plan::Verify(*plan);
    verify.Add(Seconds() - start);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("%9.1f  %9.1f  %11.1f  %9.1f  %s\n", load.ms(), parse.ms(), validate.ms(), verify.ms(), path);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int failed = 0;
  std::printf("%9s  %9s  %11s  %9s\n", "load ms", "parse ms", "validate ms", "verify ms");
  for (int i = 1; i < argc; ++i) failed |= MeasureFile(argv[i]);
  return failed;
}
