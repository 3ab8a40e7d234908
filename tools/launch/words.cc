#include "tools/launch/words.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <regex>
#include <utility>

namespace weft::launch {
namespace {

// What a rank's line begins with.
const char* const kPrograms[] = {"weft-run: ", "weft-generate: "};
// What is in a line of one that others are missed by: World::communicator(), the watchdog's and a rendezvous'.
constexpr char kLost[] = " lost: ";
const char* const kTooFew[] = {kLost, "nothing has moved for ", " has not come within "};
// Above and below a paragraph of mpirun's.
bool IsRule(const std::string& line) {
  return line.size() > 60 && line.find_first_not_of('-') == line.size() - 1 && line.back() == '\n';
}

bool StartsWith(const std::string& text, const std::string& begin) { return text.compare(0, begin.size(), begin) == 0; }

}  // namespace

std::string Words::Take(const std::string& bytes) {
  std::string out;
  for (char c : bytes) {
    line_ += c;
    if (c != '\n') continue;
    out += TakeLine(line_);
    line_.clear();
  }
  // Progress rewrites its line, and has no end for long.
  if (paragraph_.empty() && line_.find('\r') != std::string::npos) out += std::exchange(line_, "");
  return out;
}

std::string Words::TakeLine(const std::string& line) {
  const auto* const program = std::find_if(std::begin(kPrograms), std::end(kPrograms),
                                           [&](const char* begin) { return StartsWith(line, begin); });
  if (program != std::end(kPrograms)) {  // another's line, whatever mpirun is saying
    told_ = true;
    told_lost_ = told_lost_ || line.find(kLost) != std::string::npos;
    const bool fewer = std::any_of(std::begin(kTooFew), std::end(kTooFew),
                                   [&](const char* words) { return line.find(words) != std::string::npos; });
    if (fewer && too_few_.empty())
      too_few_ = line.substr(std::strlen(*program), line.size() - std::strlen(*program) - 1);
    static const std::regex silent(R"( lost: nothing was heard of host (\S+) for )");  // World's
    if (std::smatch match; std::regex_search(line, match, silent)) lost_host_ = match[1];
    return line;
  }
  if (StartsWith(line, "srun: error: ")) TakeSrun(line);
  if (paragraph_.empty() && !IsRule(line)) return StartsWith(line, "mpirun: Forwarding signal ") ? "" : line;
  const bool ends = !paragraph_.empty() && IsRule(line);
  paragraph_ += line;
  return ends ? TakeParagraph() : "";
}

void Words::TakeSrun(const std::string& line) {
  std::smatch match;
  static const std::regex node(R"(srun: error: Node failure on ([^\s,]+))");
  if (std::regex_search(line, match, node)) lost_host_ = match[1];
  // Of several the first one counts: after a while srun ends the others.
  static const std::regex task(R"(srun: error: \S+: tasks? (\d+)\S*: (.+))");
  if (srun_told_ || !std::regex_search(line, match, task)) return;
  srun_told_ = true;
  if (StartsWith(match[2], "Exited with exit code")) return;
  rank_ = match[1];
  how_ = "(" + std::string(match[2]) + ")";
}

std::string Words::TakeParagraph() {
  const std::string text = std::exchange(paragraph_, "");
  std::smatch match;
  // It breaks its lines anywhere.
  static const std::regex noticed(
      R"(mpirun\s+noticed\s+that\s+process\s+rank\s+(\d+)\s[^]*exited\s+on\s+signal\s+(\d+))");
  if (std::regex_search(text, match, noticed)) {
    rank_ = match[1];
    how_ = "by signal " + std::string(match[2]);
    return "";
  }
  static const std::regex daemon(R"(ORTE\s+has\s+lost\s+communication[^]*Remote\s+daemon:\s+\S+\s+on\s+node\s+(\S+))");
  if (std::regex_search(text, match, daemon)) lost_host_ = match[1];
  const auto has = [&](const char* words) { return text.find(words) != std::string::npos; };
  if (has("Primary job") && has("non-zero exit code")) return "";
  return has("mpirun detected that one or more processes exited with non-zero status") ? "" : text;
}

std::string Words::End() { return std::exchange(paragraph_, "") + std::exchange(line_, ""); }

std::string Words::Lost() const {
  if (told_lost_ || rank_.empty()) return "";
  return "rank " + rank_ + " is lost: its process has ended " + how_ + (told_ ? "" : kUnheard);
}

}  // namespace weft::launch
