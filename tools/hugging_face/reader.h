// The values of a config.json, with what is wrong about them.
#ifndef WEFT_TOOLS_HUGGING_FACE_READER_H_
#define WEFT_TOOLS_HUGGING_FACE_READER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/hugging_face/architectures.h"
#include "tools/hugging_face/folder.h"

namespace weft::hugging_face {

// As a model file writes it: 1.0e-05, 12.
std::string NumberText(double value, bool whole);

// Of several values "relu or gelu"; of none "none".
std::string ValuesText(const std::vector<Json>& values);

// Reads keys and notes errors. `absent` is JSON, what a key is that is absent or null.
class ConfigReader {
 public:
  ConfigReader(const Json& config, int64_t seq) : config_(config), seq_(seq) {}

  Json At(const std::string& key, const std::string& absent);
  // 0, and an error, for what is no number of that kind: a whole one is above 0, another one not negative.
  double Number(const std::string& key, const std::string& absent, bool whole);
  // A list of `count` whole numbers above 0; of zeros, and an error, if it is none.
  std::vector<int64_t> List(const std::string& key, const std::string& absent, size_t count);
  // Whether the value is one of `allowed`, a JSON list; else an error.
  bool Expect(const std::string& key, const std::string& allowed, const std::string& absent);
  void Wrong(const std::string& key, const std::string& expected, const Json& got);
  // The length of sequences, of at most `most`; `usual` if nothing is asked for.
  int64_t Sequence(int64_t most, int64_t usual);

  bool has_seq() const { return seq_ != 0; }
  const std::set<std::string>& read() const { return read_; }
  std::vector<std::string>& errors() { return errors_; }

 private:
  const Json& config_;
  const int64_t seq_;
  std::set<std::string> read_;
  std::vector<std::string> errors_;
};

// The settings of a model that is to become a config.json.
class SettingReader {
 public:
  explicit SettingReader(const std::map<std::string, std::string>& settings) : settings_(settings) {}
  bool Has(const std::string& name) const { return settings_.count(name) != 0; }
  // 0, and an error, if it is not there or no number.
  double Number(const std::string& name);
  Json Value(const std::string& name, bool whole);
  const absl::Status& status() const { return status_; }

 private:
  const std::map<std::string, std::string>& settings_;
  absl::Status status_;
};

}  // namespace weft::hugging_face

#endif  // WEFT_TOOLS_HUGGING_FACE_READER_H_
