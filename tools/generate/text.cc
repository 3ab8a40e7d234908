#include "tools/generate/text.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace weft::generate {
namespace {

using Json = nlohmann::json;

// Answers each line of JSON with one: a text with its tokens, tokens with their text. First it says how many there are.
constexpr char kScript[] = R"(
import json, sys
def say(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
try:
    import tokenizers
except ImportError:
    say({"lacking": True})
    sys.exit(0)
try:
    tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1])
except Exception as error:
    say({"wrong": str(error)})
    sys.exit(0)
say(tokenizer.get_vocab_size())
for line in sys.stdin:
    asked = json.loads(line)
    say(tokenizer.encode(asked).ids if isinstance(asked, str) else tokenizer.decode(asked))
)";

class ByteTokenizer : public Tokenizer {
 public:
  int64_t size() const override { return 256; }
  absl::StatusOr<std::vector<int32_t>> Encode(const std::string& text) override {
    std::vector<int32_t> tokens;
    for (unsigned char byte : text) tokens.push_back(byte);
    return tokens;
  }
  absl::StatusOr<std::string> Decode(absl::Span<const int32_t> tokens) override {
    std::string text;
    for (int32_t token : tokens) text += static_cast<char>(token);
    return text;
  }
};

class PythonTokenizer : public Tokenizer {
 public:
  PythonTokenizer(std::string path, pid_t process, std::FILE* to, std::FILE* from)
      : path_(std::move(path)), process_(process), to_(to), from_(from) {}
  ~PythonTokenizer() override {
    std::fclose(to_);
    std::fclose(from_);
    waitpid(process_, nullptr, 0);
  }

  // Reads what the process says first.
  absl::Status Start() {
    const absl::StatusOr<Json> said = Hear();
    if (!said.ok()) return said.status();
    if (said->is_object() && said->contains("lacking")) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_,
                       ": expected the Python package `tokenizers`, found none; pip install tokenizers, in a virtual "
                       "environment (python3 -m venv), brings it, and --prompt-ids needs none"));
    }
    if (said->is_object()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": expected a tokenizer.json, got ", said->value("wrong", "something else")));
    }
    size_ = said->get<int64_t>();
    return absl::OkStatus();
  }

  int64_t size() const override { return size_; }

  absl::StatusOr<std::vector<int32_t>> Encode(const std::string& text) override {
    const absl::StatusOr<Json> answer = Ask(Json(text));
    if (!answer.ok()) return answer.status();
    return answer->get<std::vector<int32_t>>();
  }

  absl::StatusOr<std::string> Decode(absl::Span<const int32_t> tokens) override {
    const absl::StatusOr<Json> answer = Ask(Json(std::vector<int32_t>(tokens.begin(), tokens.end())));
    if (!answer.ok()) return answer.status();
    return answer->get<std::string>();
  }

 private:
  absl::StatusOr<Json> Ask(const Json& question) {
    // Bytes that are no UTF-8 become U+FFFD, as in Python.
    const std::string line = question.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
    if (std::fwrite(line.data(), 1, line.size(), to_) != line.size() || std::fflush(to_) != 0) return Gone();
    return Hear();
  }

  absl::StatusOr<Json> Hear() {
    std::string line;
    for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
      if (c == EOF) return Gone();
      line += static_cast<char>(c);
    }
    Json said = Json::parse(line, nullptr, false);
    if (said.is_discarded()) return Gone();
    return said;
  }

  absl::Status Gone() const {
    return absl::InternalError(
        absl::StrCat(path_, ": expected an answer of the tokenizer's process, python3, got none"));
  }

  const std::string path_;
  const pid_t process_;
  std::FILE* const to_;
  std::FILE* const from_;
  int64_t size_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer> Bytes() { return std::make_unique<ByteTokenizer>(); }

absl::StatusOr<std::unique_ptr<Tokenizer>> OpenTokenizer(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) {
    return absl::NotFoundError(absl::StrCat(path, ": cannot be read: ", std::strerror(errno)));
  }
  std::signal(SIGPIPE, SIG_IGN);  // the end of the process is an error of a write
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrCat("a pipe cannot be made: ", std::strerror(errno)));
  }
  const pid_t process = fork();
  if (process == 0) {
    dup2(to[0], 0);
    dup2(from[1], 1);
    execlp("python3", "python3", "-c", kScript, path.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  if (process < 0) return absl::InternalError(absl::StrCat("python3 cannot be started: ", std::strerror(errno)));
  auto tokenizer = std::make_unique<PythonTokenizer>(path, process, fdopen(to[1], "w"), fdopen(from[0], "r"));
  if (absl::Status status = tokenizer->Start(); !status.ok()) return status;
  return tokenizer;
}

size_t WholeCharacters(const std::string& text) {
  constexpr char kUnknown[] = "\xEF\xBF\xBD";
  size_t size = text.size();
  while (size >= 3 && absl::EndsWith(absl::string_view(text).substr(0, size), kUnknown)) size -= 3;
  // A first byte of n that is less than n bytes from the end.
  for (size_t back = 1; back <= 3 && back <= size; ++back) {
    const auto byte = static_cast<unsigned char>(text[size - back]);
    if (byte < 0x80) break;
    if (byte < 0xC0) continue;
    const size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : 2;
    if (length > back) size -= back;
    break;
  }
  return size;
}

}  // namespace weft::generate
