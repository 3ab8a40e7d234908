#include "runtime/device/cuda/algorithms.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/device/cuda/library.h"

namespace weft::cuda {
namespace {

constexpr char kFirstLine[] = "weft cublaslt algorithms 1";
constexpr size_t kWords = 8, kDigits = 16;  // of an algorithm, of a word

// FNV-1a, 64 bits: http://www.isthe.com/chongo/tech/comp/fnv.
uint64_t ChecksumOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::string HexOf(uint64_t word) { return absl::StrCat(absl::Hex(word, absl::kZeroPad16)); }

// The line without its checksum.
std::string BodyOf(const std::string& key, const lt::Algorithm& algorithm) {
  std::string body;
  for (const uint64_t word : algorithm.data) body += HexOf(word);
  return absl::StrCat(body, " ", key);
}

bool ParseHex(const std::string& digits, uint64_t& word) {
  if (digits.size() != kDigits) return false;
  word = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return false;
    word = word << 4 | static_cast<uint64_t>(digit);
  }
  return true;
}

// False: damaged.
bool ParseLine(const std::string& line, std::string& key, lt::Algorithm& algorithm) {
  constexpr size_t kKey = kDigits + 1 + kWords * kDigits + 1;
  uint64_t checksum = 0;
  if (line.size() <= kKey || !ParseHex(line.substr(0, kDigits), checksum)) return false;
  if (ChecksumOf(line.substr(kDigits + 1)) != checksum) return false;
  for (size_t w = 0; w < kWords; ++w) {
    if (!ParseHex(line.substr(kDigits + 1 + w * kDigits, kDigits), algorithm.data[w])) return false;
  }
  key = line.substr(kKey);
  return true;
}

}  // namespace

AlgorithmFile::AlgorithmFile(std::string path) : path_(std::move(path)) {
  absl::StatusOr<Entries> read = Read();
  status_ = read.status();
  if (read.ok()) entries_ = *std::move(read);
}

std::optional<lt::Algorithm> AlgorithmFile::Find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

absl::Status AlgorithmFile::Add(const std::string& key, const lt::Algorithm& algorithm) {
  // What other processes have found meanwhile; ours stays where both have one.
  if (absl::StatusOr<Entries> others = Read(); others.ok()) entries_.merge(*others);
  entries_[key] = algorithm;
  return Write();
}

absl::StatusOr<AlgorithmFile::Entries> AlgorithmFile::Read() const {
  Entries entries;
  if (path_.empty()) return entries;
  std::ifstream file(path_);
  if (!file) return entries;
  std::string line, key;
  lt::Algorithm algorithm = {};
  bool good = std::getline(file, line) && line == kFirstLine;
  int number = 1;
  while (good && std::getline(file, line)) {
    ++number;
    // A last line without its end was cut.
    good = !file.eof() && ParseLine(line, key, algorithm);
    if (good) entries[key] = algorithm;
  }
  if (good) return entries;
  return absl::DataLossError(
      absl::StrCat(path_, ": line ", number, ": expected an algorithm; the file is ignored and made anew"));
}

absl::Status AlgorithmFile::Write() const {
  if (path_.empty()) return absl::OkStatus();
  const std::filesystem::path path(path_);
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  const std::string aside = absl::StrCat(path_, ".", getpid(), ".part");
  std::ofstream file(aside, std::ios::trunc);
  file << kFirstLine << "\n";
  for (const auto& [key, algorithm] : entries_) {
    const std::string body = BodyOf(key, algorithm);
    file << HexOf(ChecksumOf(body)) << " " << body << "\n";
  }
  file.close();
  if (file && std::rename(aside.c_str(), path_.c_str()) == 0) return absl::OkStatus();
  std::filesystem::remove(aside, error);
  return absl::UnavailableError(absl::StrCat(path_, ": cannot be written"));
}

std::string DefaultAlgorithmFile() {
  const std::string home = HomeFolder();
  return home.empty() ? "" : absl::StrCat(home, "/.cache/weft/cublaslt.algorithms");
}

}  // namespace weft::cuda
