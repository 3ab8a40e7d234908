#include "runtime/checkpoint/manifest.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"

namespace weft::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr const char* kFormat = "weft-checkpoint";
constexpr int64_t kVersion = 2;

Json ToJson(const FileRecord& record) {
  Json tensors = Json::object();
  for (size_t i = 0; i < record.tensors.size(); ++i) {
    const TensorEntry& entry = record.tensors[i];
    tensors[entry.name] = {{"dtype", entry.type},
                           {"shape", entry.shape},
                           {"bytes", {entry.begin, entry.end}},
                           {"checksum", ToHex(record.checksums[i])}};
  }
  return {{"bytes", record.bytes}, {"header_checksum", ToHex(record.header_checksum)}, {"tensors", tensors}};
}

// One canonical text for one content: keys sorted, one indentation.
std::string Text(const Json& json) { return json.dump(1) + "\n"; }

std::string ChecksumOf(const Json& json) {
  const std::string text = Text(json);
  return ToHex(Checksum(1, 0, text.data(), static_cast<int64_t>(text.size())));
}

// Throws what the library throws if the JSON is of another structure.
FileRecord ReadRecord(const Json& json) {
  FileRecord record;
  record.bytes = json.at("bytes").get<int64_t>();
  record.header_checksum = std::stoull(json.at("header_checksum").get<std::string>(), nullptr, 16);
  for (const auto& [name, value] : json.at("tensors").items()) {
    TensorEntry entry;
    entry.name = name;
    entry.type = value.at("dtype").get<std::string>();
    entry.shape = value.at("shape").get<std::vector<int64_t>>();
    entry.begin = value.at("bytes").at(0).get<int64_t>();
    entry.end = value.at("bytes").at(1).get<int64_t>();
    record.tensors.push_back(std::move(entry));
    record.checksums.push_back(std::stoull(value.at("checksum").get<std::string>(), nullptr, 16));
  }
  return record;
}

absl::Status Damaged(const std::string& path) {
  return absl::DataLossError(absl::StrCat(path, ": damaged: expected what a checkpoint writer wrote, got other bytes"));
}

}  // namespace

absl::StatusOr<std::string> WriteManifest(const Manifest& manifest) {
  const std::string run = Json(manifest.run).dump(-1, ' ', false, Json::error_handler_t::replace);
  Json json = {{"format", kFormat},     {"version", kVersion},     {"step", manifest.step},
               {"seed", manifest.seed}, {"run", Json::parse(run)}, {"files", Json::object()}};
  for (const auto& [name, record] : manifest.files) json["files"][name] = ToJson(record);
  try {
    json["checksum"] = ChecksumOf(json);
    return Text(json);
  } catch (const Json::exception&) {
    return absl::InvalidArgumentError("checkpoint: expected UTF-8 in names, got other bytes");
  }
}

absl::StatusOr<Manifest> ReadManifest(const std::string& path, const std::string& text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return Damaged(path);
  try {
    if (json.value("format", "") != kFormat) {
      return absl::DataLossError(absl::StrCat(path, ": not the manifest of a checkpoint, or damaged"));
    }
    if (const int64_t version = json.value("version", int64_t{0}); version < 1 || version > kVersion) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": version: expected 1 to ", kVersion, ", got ", version));
    }
    if (Text(json) != text) return Damaged(path);
    const std::string checksum = json.at("checksum").get<std::string>();
    json.erase("checksum");
    if (ChecksumOf(json) != checksum) return Damaged(path);
    Manifest manifest;
    manifest.step = json.at("step").get<int64_t>();
    manifest.seed = json.at("seed").get<uint64_t>();
    manifest.run = json.value("run", manifest.run);
    for (const auto& [name, record] : json.at("files").items()) manifest.files[name] = ReadRecord(record);
    return manifest;
  } catch (const std::exception&) {  // not the structure that was expected
    return Damaged(path);
  }
}

}  // namespace weft::checkpoint
