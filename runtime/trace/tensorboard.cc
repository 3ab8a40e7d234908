#include "runtime/trace/tensorboard.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/trace/file.h"

namespace weft::trace {
namespace {

template <typename Number>
std::string Bytes(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof(number));
}

// Fields of protocol buffers, as the encoding says them: a number of 7 bits a byte, a key of a field and its wire type.
std::string Varint(uint64_t number) {
  std::string bytes;
  for (; number >= 128; number >>= 7) bytes.push_back(static_cast<char>(number | 128));
  bytes.push_back(static_cast<char>(number));
  return bytes;
}

std::string Text(int field, const std::string& value) {
  return absl::StrCat(Varint(field << 3 | 2), Varint(value.size()), value);
}
std::string Integer(int field, int64_t value) { return Varint(field << 3) + Varint(static_cast<uint64_t>(value)); }
std::string Double(int field, double value) { return Varint(field << 3 | 1) + Bytes(value); }
std::string Float(int field, float value) { return Varint(field << 3 | 5) + Bytes(value); }

// tensorflow.Event: 1 wall_time, 2 step, 3 file_version, 5 summary; Summary: 1 value; Summary.Value: 1 tag,
// 2 simple_value (tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto).
std::string Event(double seconds, int64_t step, const std::string& what) {
  return absl::StrCat(Double(1, seconds), Integer(2, step), what);
}

uint32_t Masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

}  // namespace

uint32_t Crc32c(absl::string_view bytes) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> made;
    for (uint32_t i = 0; i < 256; ++i) {
      made[i] = i;
      for (int bit = 0; bit < 8; ++bit) made[i] = made[i] >> 1 ^ (made[i] & 1 ? 0x82f63b78u : 0);
    }
    return made;
  }();
  uint32_t crc = ~0u;
  for (const char byte : bytes) crc = crc >> 8 ^ table[(crc ^ static_cast<uint8_t>(byte)) & 255];
  return ~crc;
}

std::string RecordOf(absl::string_view data) {
  const std::string length = Bytes(static_cast<uint64_t>(data.size()));
  return absl::StrCat(length, Bytes(Masked(Crc32c(length))), data, Bytes(Masked(Crc32c(data))));
}

absl::StatusOr<std::unique_ptr<TensorBoardWriter>> TensorBoardWriter::Open(const std::string& folder,
                                                                           const std::string& host, int64_t seconds) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const std::string path =
      absl::StrCat(folder, "/events.out.tfevents.", absl::StrFormat("%010d", seconds), ".", host, ".", getpid());
  std::FILE* file = error ? nullptr : OpenToWrite(path);
  if (file == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": events cannot be written: ", WhyNotWritten(error ? error.value() : errno)));
  }
  std::unique_ptr<TensorBoardWriter> writer(new TensorBoardWriter(path, file));
  if (absl::Status status = writer->WriteEvent(Event(static_cast<double>(seconds), 0, Text(3, "brain.Event:2")));
      !status.ok()) {
    return status;
  }
  return writer;
}

absl::Status TensorBoardWriter::Write(const StepMetrics& metrics, double seconds) {
  std::string values;
  const nlohmann::ordered_json line = nlohmann::ordered_json::parse(ToJson(metrics));
  for (const auto& [key, value] : line.items()) {
    if (key == "step" || !value.is_number()) continue;
    values += Text(1, Text(1, key) + Float(2, value.get<float>()));
  }
  return WriteEvent(Event(seconds, metrics.step, Text(5, values)));
}

absl::Status TensorBoardWriter::WriteEvent(const std::string& event) {
  const std::string record = RecordOf(event);
  if (std::fwrite(record.data(), 1, record.size(), file_) == record.size() && std::fflush(file_) == 0)
    return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path_, ": events cannot be written: ", std::strerror(errno)));
}

}  // namespace weft::trace
