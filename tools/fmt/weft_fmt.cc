// weft-fmt: lays out model files.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/pipeline/model_source.h"
#include "compiler/text/format.h"
#include "runtime/plan/load.h"
#include "runtime/plan/read_file.h"
#include "runtime/version/answer.h"

namespace {

constexpr char kHelp[] = R"(weft-fmt: lays out model files

usage: weft fmt [FILE...] [--check]

  FILE       a model file, which is written again; none, or "-": from standard input to standard output
  --check    write nothing; name the files that would change, and exit 1 if there is one
  --version  what this program was built from
  --help     this text

Indents and spaces change; comments, line breaks and everything else stay. A file is written only if it parses, before and
after, as the same model. What is laid out already stays as it is.

examples:
  weft fmt models/gpt2/gpt2.mlir
  weft fmt --check models/*.mlir models/*/*.mlir
  weft fmt < draft.mlir

exit status: 0 done; 1 --check found a file to change, or one cannot be written; 2 the request was wrong (flag, or a file
that is no model file)
)";

int wrong(const std::string &what, int status = 2) {
  std::fprintf(stderr, "weft-fmt: %s\n", what.c_str());
  return status;
}

// The text of standard input; not more than a model file may have.
absl::StatusOr<std::string> readInput() {
  std::string text(weft::plan::kMostTextBytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stdin));
  if (std::ferror(stdin) != 0) {
    return weft::plan::SystemError("standard input", "cannot be read", errno);
  }
  if (int64_t(text.size()) > weft::plan::kMostTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("standard input: expected at most ", weft::plan::kMostTextBytes, " bytes, got more"));
  }
  return text;
}

// The text of `name` as it should be. Errors of the parser are printed; the status then has no message.
absl::StatusOr<std::string> formattedModel(const std::string &name, const std::string &text) {
  using weft::compiler::ModelSource;
  absl::StatusOr<std::unique_ptr<ModelSource>> before = ModelSource::parse(name, text);
  if (!before.ok()) {
    return before.status();
  }
  const std::string result = weft::text::formatted(text);
  const absl::Status same = (*before)->isSame(result);
  return same.ok() ? absl::StatusOr<std::string>(result) : same;
}

// Standard output, or a file again. The exit status.
int write(const std::string &path, const std::string &text) {
  if (path == "-") {
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return written ? 0 : wrong(absl::StrCat("standard output: cannot be written: ", std::strerror(errno)), 1);
  }
  const absl::Status status = weft::plan::ReplaceFile(path, text);
  return status.ok() ? 0 : wrong(std::string(status.message()), 1);
}

int format(const std::string &path, bool checks) {
  const bool isInput = path == "-";
  const absl::StatusOr<std::string> text = isInput ? readInput() : weft::plan::ReadText(path);
  if (!text.ok()) {
    return wrong(std::string(text.status().message()));
  }
  const std::string name = isInput ? "standard input" : path;
  const absl::StatusOr<std::string> result = formattedModel(name, *text);
  if (!result.ok()) {
    return result.status().message().empty() ? 2 : wrong(std::string(result.status().message()));
  }
  if (checks) {
    return *result == *text ? 0 : wrong(absl::StrCat(name, ": expected the layout of weft fmt, got another"), 1);
  }
  return *result == *text && !isInput ? 0 : write(path, *result);
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> files;
  bool checks = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const std::optional<int> status = weft::Answer(argument, "weft-fmt", kHelp)) {
      return *status;
    }
    if (argument == "--check") {
      checks = true;
    } else if (argument.size() > 1 && argument[0] == '-') {
      return wrong(absl::StrCat("unknown flag ", argument, " (see --help)"));
    } else {
      files.push_back(argument);
    }
  }
  if (files.empty()) {
    files.push_back("-");
  }
  int status = 0;
  for (const std::string &file : files) {
    status = std::max(status, format(file, checks));
  }
  return status;
}
