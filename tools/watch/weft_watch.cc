// weft-watch: looks at runs while they go on, by the metrics that they write.
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/version/version.h"
#include "tools/watch/course.h"
#include "tools/watch/frame.h"

namespace {

namespace fs = std::filesystem;

constexpr char kHelp[] = R"(weft-watch: looks at runs while they go on

usage: weft watch DIR [--once] [--every SECONDS] [--prometheus]

  DIR              a folder with the metrics.jsonl of a run, or with folders that have one each, which are shown together; or
                   a file of weft run --metrics
  --once           print one frame and end; so it does where no terminal shows it
  --prometheus     print the latest numbers once, in the text form of Prometheus: weft_loss{run="DIR"} 2.5
  --every SECONDS  look again so often; 1 if absent
  --version        what this program was built from
  --help           this text

A frame says how far a run is, its ranks, host and data, and of every number of its steps the latest value, the least and the
most, and the course from the first step to the last. It reads the file alone, so the run may be on another machine
that writes into a shared file system. ^C ends it.

examples:
  weft run tiny.plan --data corpus.txt --metrics runs/tiny/metrics.jsonl
  weft watch runs/tiny
  weft watch runs
  weft watch runs/tiny --once

exit status: 0 done; 1 the screen cannot be written; 2 the request was wrong (flag, or no metrics there)
)";

constexpr char kFile[] = "metrics.jsonl";
constexpr int kWidth = 100;  // without a terminal

struct Request {
  std::string path;
  bool once = false, prometheus = false, help = false, version = false;
  double every_s = 1;
};

// The error, or none.
std::string Parse(int argc, char** argv, Request& request) {
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--once") {
      request.once = true;
    } else if (argument == "--prometheus") {
      request.prometheus = true;
    } else if (argument == "--help" || argument == "-h") {
      request.help = true;
    } else if (argument == "--version") {
      request.version = true;
    } else if (argument == "--every" || argument.rfind("--every=", 0) == 0) {
      const std::string value = argument.size() > 7 ? argument.substr(8) : i + 1 < argc ? argv[++i] : "";
      if (!absl::SimpleAtod(value, &request.every_s) || !(request.every_s >= 0.1 && request.every_s <= 3600))
        return absl::StrCat("--every: expected 0.1 to 3600 seconds, got `", value, "` (see --help)");
    } else if (argument.size() > 1 && argument[0] == '-') {
      return absl::StrCat(argument, ": no such flag (see --help)");
    } else if (!request.path.empty()) {
      return absl::StrCat(argument, ": expected one folder, got also ", request.path, " (see --help)");
    } else {
      request.path = argument;
    }
  }
  const bool asks = request.help || request.version;
  return request.path.empty() && !asks ? "expected a folder with metrics.jsonl (see --help)" : "";
}

// A file of metrics, read on from where it ended; from its beginning if it is another one.
class Followed {
 public:
  Followed(std::string name, std::string path) : name_(std::move(name)), path_(std::move(path)) {}

  void Read() {
    struct stat now = {};
    if (stat(path_.c_str(), &now) != 0) return;  // it may come back
    if (now.st_ino != inode_ || now.st_size < read_) {
      course_ = {};
      read_ = 0;
      inode_ = now.st_ino;
    }
    changed_ = now.st_mtime;
    std::ifstream file(path_, std::ios::binary);
    file.seekg(read_);
    std::string text(std::max<off_t>(now.st_size - read_, 0), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(file.gcount());
    read_ += static_cast<off_t>(text.size());
    course_.Take(text);
  }

  const std::string& name() const { return name_; }
  const weft::watch::Course& course() const { return course_; }
  double age_s() const { return std::difftime(std::time(nullptr), changed_); }

 private:
  const std::string name_, path_;
  weft::watch::Course course_;
  ino_t inode_ = 0;
  off_t read_ = 0;
  time_t changed_ = 0;
};

// The files that a path means, by name.
std::vector<std::unique_ptr<Followed>> FilesOf(const std::string& path) {
  std::vector<std::unique_ptr<Followed>> files;
  std::error_code none;
  if (!fs::is_directory(path, none)) {
    if (fs::exists(path, none)) files.push_back(std::make_unique<Followed>(path, path));
    return files;
  }
  if (fs::exists(fs::path(path) / kFile, none)) {
    files.push_back(std::make_unique<Followed>(path, fs::path(path) / kFile));
    return files;
  }
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, none)) {
    if (fs::exists(entry.path() / kFile, none)) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) files.push_back(std::make_unique<Followed>(folder.filename(), folder / kFile));
  return files;
}

std::string FrameOf(const std::vector<std::unique_ptr<Followed>>& files, int width, bool prometheus) {
  std::vector<weft::watch::NamedRun> runs;
  for (const auto& file : files) runs.push_back({file->name(), &file->course(), file->age_s()});
  if (prometheus) return PrometheusText(runs);
  if (runs.size() == 1) return RunFrame(runs[0].name, *runs[0].course, runs[0].age_s, width);
  return weft::watch::RunsFrame(runs, width);
}

int Wrong(const std::string& what) {
  std::fprintf(stderr, "weft-watch: %s\n", what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  if (const std::string error = Parse(argc, argv, request); !error.empty()) return Wrong(error);
  if (request.help || request.version) {
    std::fputs(request.help ? kHelp : weft::VersionText("weft-watch").c_str(), stdout);
    return 0;
  }
  std::vector<std::unique_ptr<Followed>> files = FilesOf(request.path);
  if (files.empty())
    return Wrong(absl::StrCat(request.path, ": expected a folder with ", kFile,
                              ", which weft run --metrics writes, or a file of it, found none"));
  const bool lives = !request.once && !request.prometheus && isatty(STDOUT_FILENO) == 1;
  for (;;) {
    winsize size = {};
    const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    for (const auto& file : files) file->Read();
    const std::string frame = FrameOf(files, known ? size.ws_col : kWidth, request.prometheus);
    // From the top of the screen, without the rest of what was there.
    if (std::fprintf(stdout, lives ? "\x1b[H\x1b[2J%s" : "%s", frame.c_str()) < 0 || std::fflush(stdout) != 0) {
      std::fprintf(stderr, "weft-watch: standard output: cannot be written: %s\n", std::strerror(errno));
      return 1;
    }
    if (!lives) return 0;
    usleep(static_cast<useconds_t>(request.every_s * 1e6));
    if (std::vector<std::unique_ptr<Followed>> now = FilesOf(request.path); now.size() > files.size())
      files = std::move(now);  // another run has begun
  }
}
