#include "runtime/trace/metrics.h"

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/trace/file.h"

namespace weft::trace {
namespace {

std::string Number(std::optional<double> value) {
  if (!value.has_value() || !std::isfinite(*value)) return "null";
  return absl::StrFormat("%.9g", *value);
}

// A key that is absent where its number is.
std::string Known(const char* key, std::optional<double> value, const char* before, const char* behind) {
  return value.has_value() ? absl::StrCat(before, "\"", key, "\":", Number(value), behind) : "";
}

// kNotFound or kInvalidArgument for a path that can never be written.
absl::Status FileError(const std::string& path, const char* what) {
  const int error = errno;
  const std::string message = absl::StrCat(path, ": ", what, ": ", std::strerror(error));
  if (error == ENOENT || error == ENOTDIR) return absl::NotFoundError(message);
  if (error == EISDIR || error == EACCES) return absl::InvalidArgumentError(message);
  return absl::UnavailableError(message);
}

constexpr char kRun[] = "{\"run\":";
constexpr char kStep[] = "{\"step\":";
constexpr char kRestart[] = "{\"restart\":{\"step\":";
constexpr char kCheckpoint[] = "{\"checkpoint\":{\"step\":";
constexpr char kSlowRank[] = "{\"slow_rank\":{\"step\":";
constexpr char kReplicas[] = "{\"replicas\":{\"step\":";
constexpr char kSnapshot[] = "{\"snapshot\":{\"step\":";

// The step behind what a line begins with; -1 for another line. `end`: where it ends.
int64_t StepBehind(const std::string& line, const char* begin, size_t& end) {
  int64_t step = 0;
  int length = 0;
  if (!absl::StartsWith(line, begin)) return -1;
  if (std::sscanf(line.c_str() + std::strlen(begin), "%" SCNd64 "%n", &step, &length) != 1) return -1;
  end = std::strlen(begin) + length;
  return step;
}

std::string Text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string RunLine(const std::map<std::string, std::string>& about) { return absl::StrCat(kRun, Text(about), "}\n"); }

// The lines of `path` up to step `done`, each part of them below the line of its run; none if there is no file.
std::string EarlierLines(const std::string& path, int64_t done) {
  std::string kept, run = RunLine({});
  bool from_0 = true;  // an older Weft's, which knew no line of a run
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.back() != '}') continue;  // of a run that was killed
    if (absl::StartsWith(line, kRun)) {
      run = line + "\n";
      from_0 = false;
      continue;
    }
    size_t end = 0;
    const auto is_of_before = [&](const char* begin) {
      const int64_t step = StepBehind(line, begin, end);
      return step >= 0 && step <= done;
    };
    if (is_of_before(kCheckpoint) || is_of_before(kSlowRank) || is_of_before(kReplicas) || is_of_before(kSnapshot)) {
      absl::StrAppend(&kept, std::exchange(run, ""), line, "\n");
      continue;
    }
    if (absl::StartsWith(line, kRestart)) {  // also of a run of which no step is left
      absl::StrAppend(&kept, line, "\n");
      continue;
    }
    int64_t step = StepBehind(line, kStep, end);
    if (step < 0) continue;
    if (from_0) ++step;
    if (step > done) continue;
    absl::StrAppend(&kept, run, kStep, step, line.substr(end), "\n");
    run.clear();
  }
  return kept;
}

}  // namespace

std::string ToJson(const StepMetrics& m) {
  std::string more;
  if (m.loss_scale.has_value()) absl::StrAppend(&more, "\"loss_scale\":", Number(m.loss_scale), ",");
  if (m.skipped_steps.has_value()) absl::StrAppend(&more, "\"skipped_steps\":", Number(m.skipped_steps), ",");
  for (const auto& [name, value] : m.of_model) absl::StrAppend(&more, "\"", name, "\":", Number(value), ",");
  for (const auto& [name, value] : m.evaluation)
    absl::StrAppend(&more, Text(absl::StrCat(kEvaluationPrefix, name)), ":", Number(value), ",");
  return absl::StrFormat(
      R"({"step":%d,"loss":%s,"grad_norm":%s,"lr":%s,%s"tokens":%d,"tokens_per_s":%s,"tflops":%s,"mfu":%s,%s"memory_bytes":%d%s})",
      m.step, Number(m.loss), Number(m.grad_norm), Number(m.lr), more, m.tokens, Number(m.tokens_per_s),
      Number(m.tflops), Number(m.mfu), Known("mfu_cluster", m.mfu_cluster, "", ","), m.memory_bytes,
      Known("memory_share", m.memory_share, ",", ""));
}

std::string ToJson(const EvaluationMetrics& m) {
  std::string means;
  for (const auto& [name, value] : m.means) {
    absl::StrAppend(&means, means.empty() ? "" : ",", Text(name), ":", Number(value));
  }
  return absl::StrFormat(R"({"samples":%d,"means":{%s}})", m.samples, means);
}

std::string ToJson(const SavedCheckpoint& saved) {
  return absl::StrFormat(R"(%s%d,"stood_s":%s,"write_s":%s}})", kCheckpoint, saved.step, Number(saved.stood_s),
                         Number(saved.write_s));
}

std::string ToJson(const TakenSnapshot& taken) {
  return absl::StrFormat(R"(%s%d,"bytes":%d,"stood_s":%s,"write_s":%s}})", kSnapshot, taken.step, taken.bytes,
                         Number(taken.stood_s), Number(taken.write_s));
}

std::string ToJson(const Restart& restart) {
  return absl::StrFormat(R"(%s%d,"again":%s,"reason":%s}})", kRestart, restart.step,
                         restart.again.has_value() ? absl::StrCat(*restart.again) : "null", Text(restart.reason));
}

std::string ToJson(const SlowRank& slow) {
  return absl::StrFormat(R"(%s%d,"rank":%d,"host":%s,"times":%s,"since":%d,"actor":%s,"actor_times":%s}})", kSlowRank,
                         slow.step, slow.rank, Text(slow.host), Number(slow.times), slow.since, Text(slow.actor),
                         Number(slow.actor_times));
}

std::string ToJson(const ComparedReplicas& replicas) {
  const std::string& difference = replicas.difference;
  return absl::StrFormat(R"(%s%d,"equal":%s%s}})", kReplicas, replicas.step, difference.empty() ? "true" : "false",
                         difference.empty() ? "" : absl::StrCat(",\"difference\":", Text(difference)));
}

std::optional<int64_t> LastStep(const std::string& path) {
  std::optional<int64_t> last;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return last;  // to open a pipe would be to read it
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    size_t end = 0;
    const int64_t step = StepBehind(line, kStep, end);
    if (step >= 0 && line.back() == '}') last = std::max(last.value_or(0), step);
  }
  return last;
}

absl::StatusOr<std::unique_ptr<MetricsWriter>> MetricsWriter::Open(const std::string& path, int64_t done,
                                                                   const std::map<std::string, std::string>& about) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": metrics cannot be written: it is a folder"));
  }
  // Pipes and terminals are written as they are.
  const bool special = std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  const std::string begin = absl::StrCat(done > 0 && !special ? EarlierLines(path, done) : "", RunLine(about));
  const std::string partial = special ? "" : path + ".partial";
  std::FILE* file = OpenToWrite(special ? path : partial);
  if (file == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": metrics cannot be written: ", WhyNotWritten(errno)));
  }
  std::unique_ptr<MetricsWriter> writer(new MetricsWriter(path, partial, file));
  if (std::fwrite(begin.data(), 1, begin.size(), file) != begin.size())
    return FileError(path, "metrics cannot be written");
  return writer;
}

MetricsWriter::~MetricsWriter() {
  std::fclose(file_);
  if (!partial_.empty()) std::remove(partial_.c_str());
}

absl::Status MetricsWriter::WriteLine(const std::string& json) {
  const std::string line = json + "\n";
  if (std::fwrite(line.data(), 1, line.size(), file_) != line.size() || std::fflush(file_) != 0) {
    return FileError(path_, "metrics cannot be written");
  }
  if (partial_.empty()) return absl::OkStatus();
  if (std::rename(partial_.c_str(), path_.c_str()) != 0) return FileError(path_, "metrics cannot be written");
  partial_.clear();
  return absl::OkStatus();
}

}  // namespace weft::trace
