#include "tests/plans/corpus.h"

#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace weft::plan {
namespace {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path, ": cannot be read"));
  return text.str();
}

// The parser's first error, with its line.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber column, const std::string& message) override {
    if (text.empty()) text = absl::StrCat(line + 1, ":", column + 1, ": ", message);
  }
  std::string text;
};

// "\\n" stands for a line break.
std::string Unescape(std::string text) {
  for (size_t at = text.find("\\n"); at != std::string::npos; at = text.find("\\n", at)) text.replace(at, 2, "\n");
  return text;
}

absl::Status Replace(const std::string& edit, std::string& text) {
  const size_t arrow = edit.find(" => ");
  if (arrow == std::string::npos) return absl::InvalidArgumentError(absl::StrCat("no arrow in edit ", edit));
  const std::string from = Unescape(edit.substr(0, arrow)), to = Unescape(edit.substr(arrow + 4));
  const size_t at = text.find(from);
  if (at == std::string::npos) return absl::InvalidArgumentError(absl::StrCat("does not occur: ", from));
  if (text.find(from, at + 1) != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("occurs more than once: ", from));
  }
  text.replace(at, from.size(), to);
  return absl::OkStatus();
}

// Follows a file's directives; returns the plan's text.
absl::StatusOr<std::string> Expand(const std::string& path, CorpusPlan& plan) {
  absl::StatusOr<std::string> own = ReadText(path);
  if (!own.ok()) return own.status();
  std::string text = *own;
  std::istringstream lines(*own);
  const auto directive = [](const std::string& line, const std::string& name) {
    return line.rfind("# " + name + ": ", 0) == 0;
  };
  for (std::string line; std::getline(lines, line) && line.rfind("#", 0) == 0;) {
    const std::string value = line.substr(std::min(line.size(), line.find(": ") + 2));
    if (directive(line, "expect")) plan.expect = value;
    if (directive(line, "device_bytes")) plan.device_bytes = std::strtoll(value.c_str(), nullptr, 10);
    if (directive(line, "from")) {
      CorpusPlan base;
      absl::StatusOr<std::string> from = Expand((std::filesystem::path(path).parent_path() / value).string(), base);
      if (!from.ok()) return from.status();
      text = *from;
    }
    if (!directive(line, "replace")) continue;
    absl::Status status = Replace(value, text);
    if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  }
  return text;
}

}  // namespace

absl::StatusOr<CorpusPlan> ReadCorpusPlan(const std::string& path) {
  CorpusPlan plan;
  plan.file = std::filesystem::path(path).filename().string();
  absl::StatusOr<std::string> text = Expand(path, plan);
  if (!text.ok()) return text.status();
  google::protobuf::TextFormat::Parser parser;
  FirstError error;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(*text, &plan.plan)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", error.text));
  }
  return plan;
}

absl::StatusOr<std::vector<CorpusPlan>> ReadCorpus(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".txtpb") paths.push_back(entry.path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusPlan> plans;
  for (const std::string& path : paths) {
    absl::StatusOr<CorpusPlan> plan = ReadCorpusPlan(path);
    if (!plan.ok()) return plan.status();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

}  // namespace weft::plan
