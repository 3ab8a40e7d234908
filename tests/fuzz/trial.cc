#include "tests/fuzz/trial.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace weft::fuzz {
namespace {

constexpr int kSteps = 3;
// Of a case that takes milliseconds: what is not over by then does not end.
constexpr unsigned kMostSeconds = 600;

double Largest(const std::vector<float>& a) {
  double most = 0;
  for (float x : a) most = std::max(most, std::abs(static_cast<double>(x)));
  return most;
}

double Distance(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return most;
}

bool Finite(const std::vector<float>& a) {
  return std::all_of(a.begin(), a.end(), [](float x) { return std::isfinite(x); });
}

// A step was skipped, as its gradients overflowed float16.
bool Overflowed(const Result& result) {
  const auto skipped = result.state.find("loss_scale.skipped_steps");
  return skipped != result.state.end() && Largest(skipped->second) > 0;
}

// Parameters, or one kind of the optimizer's state: what a layout may disturb alike.
std::string KindOf(const std::string& name) {
  for (const char* kind : {"momentum.", "adam_m.", "adam_v."}) {
    if (absl::StartsWith(name, kind)) return kind;
  }
  return "";
}

struct Bound {
  bool narrow;
  double* share;

  // `changed`: what the other precision made of these on one rank. `moved`: how far training has carried numbers like
  // these at most.
  std::string Check(const std::string& name, const std::vector<float>& many, const std::vector<float>& one,
                    double changed, double moved) const {
    if (many.size() != one.size()) return absl::StrCat(name, ": ", many.size(), " numbers, not ", one.size());
    if (!Finite(many)) return absl::StrCat(name, ": not finite");
    const double may = (narrow ? 0x1p4 : 0x1p-7) * changed + 0x1p-24 * (0x1p3 * Largest(one) + 0x1p5 * moved);
    const double is = Distance(many, one);
    if (is > 0) *share = std::max(*share, is / may);
    if (is <= may) return "";
    return absl::StrFormat("%s: differs by %.3g where rounding may make %.3g; of %.3g", name, is, may, Largest(one));
  }
};

// The narrow twin of a run in float32, and the other way round.
Overrides Disturbed(const Case& a_case) {
  Overrides all = OneRank(a_case);
  if (a_case.compute == "F32") all.push_back("precision.compute=BF16");
  return all;
}

Overrides InPrecision(const Case& a_case, Overrides all) {
  if (a_case.compute == "BF16") all.push_back("precision.compute=BF16");
  // A scale at which little overflows, as whether it does may depend on the order of a sum; and at which what rounding
  // leaves of a sum that cancels is no less than float16's least number, 2^-24. Below that a gradient becomes 0 on one
  // rank, and not in micro-batches, whose gradients are the larger the fewer rows share the loss.
  if (a_case.compute == "F16") all.push_back("precision={compute: F16 loss_scale { initial: 64 }}");
  return all;
}

// What this process printed on the stream that `Capture` took.
class Capture {
 public:
  Capture() : file_(memfd_create("fuzz", 0)) {
    dup2(file_, STDOUT_FILENO);
    dup2(file_, STDERR_FILENO);
  }
  std::string Text() const {
    std::string text(std::max<off_t>(lseek(file_, 0, SEEK_END), 0), '\0');
    const ssize_t size = pread(file_, text.data(), text.size(), 0);
    text.resize(size > 0 ? size : 0);
    return text;
  }
  int file() const { return file_; }

 private:
  const int file_;
};

// Where the schedule file of a case is.
std::string OrderFile(const std::string& model_file) { return model_file + ".schedule"; }

Trial Compare(const Case& a_case, const std::string& model_file, const Capture& printed) {
  const std::string job = JobOf(a_case, model_file);
  const auto train = [&](const Overrides& overrides, const Machine& machine = {}) {
    return Train(job, overrides, a_case.model.vocab, kSteps, machine);
  };
  const absl::StatusOr<Result> one = train(InPrecision(a_case, OneRank(a_case)));
  if (!one.ok()) return {Verdict::kFails, absl::StrCat("one rank: ", one.status().message(), "\n", printed.Text())};
  if (!Finite(one->losses)) return {Verdict::kFails, "one rank: a loss is not finite"};
  const absl::StatusOr<Result> disturbed = train(Disturbed(a_case));
  if (!disturbed.ok())
    return {Verdict::kFails, absl::StrCat("other precision: ", disturbed.status().message(), "\n", printed.Text())};
  const absl::StatusOr<Result> many = train(InPrecision(a_case, Many(a_case, OrderFile(model_file))), a_case.machine);
  const std::vector<std::string> forbidden = Forbidden(a_case);
  const std::string expected = absl::StrJoin(forbidden, "; ");
  if (!many.ok()) {
    const std::string said = absl::StrCat(many.status().message(), "\n", printed.Text());
    for (const std::string& words : forbidden) {
      if (absl::StrContains(said, words)) return {Verdict::kRefused, words};
    }
    return {Verdict::kFails, absl::StrCat(said, expected.empty() ? "" : "\nexpected the refusal: ", expected)};
  }
  if (!forbidden.empty()) return {Verdict::kFails, absl::StrCat("expected the refusal: ", expected)};
  // One rank sums the gradients of more rows in float16 than a layout may.
  if (Overflowed(*one)) return {Verdict::kRefused, "float16 overflows on one rank"};
  Trial trial{Verdict::kAgrees};
  trial.what = Differences(*many, *one, *disturbed, a_case.compute != "F32", &trial.share);
  if (!trial.what.empty()) trial.verdict = Verdict::kFails;
  return trial;
}

// What the child does; it does not return.
[[noreturn]] void Child(const Case& a_case, const std::string& model_file, const Capture& printed, int report) {
  alarm(kMostSeconds);
  const Trial trial = Compare(a_case, model_file, printed);
  const std::string text =
      absl::StrCat(std::string(1, static_cast<char>(trial.verdict)), trial.share, "\n", trial.what);
  (void)!write(report, text.data(), text.size());
  _exit(0);
}

}  // namespace

std::string Differences(const Result& many, const Result& one, const Result& disturbed, bool narrow, double* share) {
  const Bound bound{narrow, share};
  std::map<std::string, double> moved, changed;
  std::map<std::string, std::vector<double>> shares;  // by kind: what was changed of each
  for (const auto& [name, values] : one.state) {
    double& most = moved[KindOf(name)];
    most = std::max(most, Distance(values, one.initial.at(name)));
    const auto other = disturbed.state.find(name);
    if (other == disturbed.state.end()) continue;  // the state of a loss scale is not there in float32
    changed[name] = Distance(values, other->second);
    if (changed[name] > 0) shares[KindOf(name)].push_back(changed[name] / Largest(values));
  }
  for (auto& [kind, all] : shares) std::sort(all.begin(), all.end());
  std::vector<std::string> all = {
      bound.Check("losses", many.losses, one.losses, Distance(one.losses, disturbed.losses), 0)};
  for (const auto& [name, values] : one.state) {
    const std::string kind = KindOf(name);
    const double usual = shares[kind].empty() ? 0 : shares[kind][shares[kind].size() / 2] * Largest(values);
    const auto got = many.state.find(name);
    all.push_back(got == many.state.end()
                      ? absl::StrCat(name, ": not there")
                      : bound.Check(name, got->second, values, std::max(changed[name], usual), moved[kind]));
  }
  if (many.state.size() > one.state.size()) all.push_back("more state than one rank has");
  all.erase(std::remove(all.begin(), all.end(), ""), all.end());
  return absl::StrJoin(all, "\n");
}

Trial Try(const Case& a_case, const std::string& root) {
  // A process's number is no name: those of two sandboxes may be alike.
  std::string folder = std::filesystem::temp_directory_path() / "weft-fuzz.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return {Verdict::kFails, absl::StrCat("no folder ", folder)};
  const std::string file = folder + "/model.mlir";
  std::ofstream(file) << TextOf(a_case.model, root);
  if (!a_case.layout.order.empty()) std::ofstream(OrderFile(file)) << a_case.layout.order;
  const int report = memfd_create("report", 0);
  const pid_t child = fork();
  const Capture* printed = nullptr;
  if (child == 0) {
    printed = new Capture;
    Child(a_case, file, *printed, report);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder);
  std::string text(1 << 16, '\0');
  const ssize_t size = pread(report, text.data(), text.size(), 0);
  text.resize(size > 0 ? size : 0);
  close(report);
  if (WIFSIGNALED(status)) {
    return {Verdict::kFails, absl::StrCat(WTERMSIG(status) == SIGALRM ? "does not end" : strsignal(WTERMSIG(status)))};
  }
  if (text.empty()) return {Verdict::kFails, absl::StrCat("ended with ", WEXITSTATUS(status))};
  const size_t end = text.find('\n');
  return {static_cast<Verdict>(text[0]), text.substr(end + 1), std::strtod(text.c_str() + 1, nullptr)};
}

}  // namespace weft::fuzz
