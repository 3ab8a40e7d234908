#include "runtime/checkpoint/safetensors_header.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/tile.h"

namespace weft::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLengthBytes = 8;
constexpr uint64_t kMostHeaderBytes = 100'000'000;  // the limit of the reference implementation
constexpr size_t kNamesShown = 3;
constexpr const char* kMetadata = "__metadata__";

struct TypeName {
  const char* name;
  int64_t bytes;
  DType dtype;
};

constexpr TypeName kTypes[] = {
#define WEFT_ROW(name, cpp, is_float, text, mlir, safetensors) {safetensors, sizeof(cpp), DType::k##name},
    WEFT_ELEMENT_TYPES(WEFT_ROW)
#undef WEFT_ROW
    // What files may hold beside.
    {"BOOL", 1, DType::kInvalid},
    {"I8", 1, DType::kInvalid},
    {"I16", 2, DType::kInvalid},
    {"U16", 2, DType::kInvalid},
    {"U32", 4, DType::kInvalid},
    {"U64", 8, DType::kInvalid},
    {"F8_E4M3", 1, DType::kInvalid},
    {"F8_E5M2", 1, DType::kInvalid},
    {"F8_E8M0", 1, DType::kInvalid},
    {"C64", 8, DType::kInvalid},
};

const TypeName* FindType(const std::string& name) {
  for (const TypeName& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

// Parses the text and refuses a key that stands twice in one object, which the
// library would silently take the last of.
absl::StatusOr<Json> ParseStrictly(const std::string& path, const std::string& text) {
  std::vector<std::set<std::string>> keys;
  std::string twice;
  auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const std::string& key = value.get_ref<const std::string&>();
      if (!keys.back().insert(key).second && twice.empty()) twice = key;
    }
    return true;
  };
  Json json = Json::parse(text, watch, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return absl::DataLossError(absl::StrCat(path, ": header: expected a JSON object, got something else"));
  }
  if (!twice.empty()) return absl::DataLossError(absl::StrCat(path, ": header: `", twice, "` stands twice"));
  return json;
}

// The list of non-negative integers under `key`; null if it is not one.
bool ReadNumbers(const Json& object, const char* key, std::vector<int64_t>* numbers) {
  auto it = object.find(key);
  if (it == object.end() || !it->is_array()) return false;
  for (const Json& item : *it) {
    if (!item.is_number_unsigned() || item.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) return false;
    numbers->push_back(item.get<int64_t>());
  }
  return true;
}

// Reads one entry; its offsets are still relative to the data.
absl::StatusOr<TensorEntry> ReadEntry(const std::string& what, const std::string& name, const Json& object) {
  TensorEntry entry;
  entry.name = name;
  std::vector<int64_t> offsets;
  auto type = object.is_object() ? object.find("dtype") : object.end();
  if (!object.is_object() || object.size() != 3 || type == object.end() || !type->is_string() ||
      !ReadNumbers(object, "shape", &entry.shape) || !ReadNumbers(object, "data_offsets", &offsets) ||
      offsets.size() != 2) {
    return absl::DataLossError(absl::StrCat(what, ": expected dtype, shape and data_offsets"));
  }
  entry.type = type->get<std::string>();
  const TypeName* known = FindType(entry.type);
  if (known == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": dtype: expected F32, BF16 or another type of the format, got ", entry.type));
  }
  entry.dtype = known->dtype;
  entry.begin = offsets[0];
  entry.end = offsets[1];
  const int64_t elements = ElementsOf(entry.shape);
  int64_t bytes = 0;
  if (elements < 0 || __builtin_mul_overflow(elements, known->bytes, &bytes)) {
    return absl::DataLossError(absl::StrCat(what, ": shape ", ShapeText(entry.shape), " is too large"));
  }
  if (entry.begin > entry.end || entry.end - entry.begin != bytes) {
    return absl::DataLossError(absl::StrCat(what, ": expected ", bytes, " bytes for ", entry.type,
                                            ShapeText(entry.shape), ", got data_offsets ", ShapeText(offsets)));
  }
  return entry;
}

// Without holes or overlaps, and exactly to the end of the file.
absl::Status CheckCover(const std::string& path, const std::vector<TensorEntry>& tensors, int64_t data_bytes) {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& entry : tensors) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const TensorEntry* a, const TensorEntry* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  int64_t end = 0;
  const TensorEntry* previous = nullptr;
  for (const TensorEntry* entry : order) {
    if (entry->begin < end) {
      return absl::DataLossError(absl::StrCat(path, ": `", entry->name, "` overlaps `", previous->name, "`"));
    }
    if (entry->begin > end) {
      return absl::DataLossError(
          absl::StrCat(path, ": no tensor holds the ", entry->begin - end, " bytes before `", entry->name, "`"));
    }
    end = entry->end;
    previous = entry;
  }
  if (end > data_bytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": truncated: expected ", end, " bytes of tensors, got ", data_bytes));
  }
  if (end < data_bytes) {
    return absl::DataLossError(absl::StrCat(path, ": expected ", end, " bytes of tensors, got ", data_bytes));
  }
  return absl::OkStatus();
}

absl::Status ReadMetadata(const std::string& path, const Json& object, std::map<std::string, std::string>* metadata) {
  bool good = object.is_object();
  if (good) {
    for (const auto& [key, value] : object.items()) {
      good = good && value.is_string();
      if (value.is_string()) (*metadata)[key] = value.get<std::string>();
    }
  }
  if (good) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": ", kMetadata, ": expected an object of strings"));
}

// The first N + 8 bytes of the file.
absl::StatusOr<std::string> ReadHeaderText(const File& file, int64_t file_bytes) {
  const std::string& path = file.path();
  uint64_t length = 0;
  if (file_bytes < kLengthBytes) {
    return absl::DataLossError(
        absl::StrCat(path, ": not a safetensors file: expected at least ", kLengthBytes, " bytes, got ", file_bytes));
  }
  if (absl::Status status = file.ReadAt(0, &length, kLengthBytes); !status.ok()) return status;
  if (length > kMostHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": not a safetensors file: expected a header of at most ",
                                                   kMostHeaderBytes, " bytes, got ", length));
  }
  const int64_t bytes = kLengthBytes + static_cast<int64_t>(length);
  if (bytes > file_bytes) {
    return absl::DataLossError(absl::StrCat(path, ": truncated, or not a safetensors file: expected a header of ",
                                            bytes, " bytes, got ", file_bytes, " bytes in all"));
  }
  std::string text(bytes, '\0');
  if (absl::Status status = file.ReadAt(0, text.data(), bytes); !status.ok()) return status;
  return text;
}

absl::Status CheckName(const std::string& path, const std::string& name) {
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return static_cast<uint8_t>(c) >= 0x20; });
  if (!name.empty() && name != kMetadata && printable) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": expected a tensor name, got `", name, "`"));
}

// How many characters two names have in common at their ends.
size_t CommonSuffix(const std::string& a, const std::string& b) {
  return std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
}

}  // namespace

std::string NamesLike(const std::string& name, const std::vector<const SafetensorsHeader*>& headers) {
  std::vector<std::pair<size_t, std::string>> names;
  for (const SafetensorsHeader* header : headers) {
    for (const TensorEntry& entry : header->tensors) names.emplace_back(CommonSuffix(name, entry.name), entry.name);
  }
  std::sort(names.begin(), names.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::string text = names.empty() ? "no tensors" : "";
  const size_t shown = std::min(names.size(), kNamesShown);
  for (size_t i = 0; i < shown; ++i) absl::StrAppend(&text, i == 0 ? "`" : ", `", names[i].second, "`");
  if (shown < names.size()) absl::StrAppend(&text, " and ", names.size() - shown, " more");
  return text;
}

const TensorEntry* SafetensorsHeader::Find(const std::string& name) const {
  auto it = std::lower_bound(tensors.begin(), tensors.end(), name,
                             [](const TensorEntry& entry, const std::string& key) { return entry.name < key; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}

absl::StatusOr<SafetensorsHeader> ReadHeader(const File& file) {
  absl::StatusOr<int64_t> file_bytes = file.Size();
  if (!file_bytes.ok()) return file_bytes.status();
  absl::StatusOr<std::string> text = ReadHeaderText(file, *file_bytes);
  if (!text.ok()) return text.status();
  absl::StatusOr<Json> json = ParseStrictly(file.path(), text->substr(kLengthBytes));
  if (!json.ok()) return json.status();

  SafetensorsHeader header;
  header.data_begin = static_cast<int64_t>(text->size());
  header.checksum = Checksum(1, 0, text->data(), header.data_begin);
  for (const auto& [name, value] : json->items()) {  // ascending by name
    if (name == kMetadata) {
      if (absl::Status status = ReadMetadata(file.path(), value, &header.metadata); !status.ok()) return status;
      continue;
    }
    absl::StatusOr<TensorEntry> entry = ReadEntry(absl::StrCat(file.path(), ": `", name, "`"), name, value);
    if (!entry.ok()) return entry.status();
    header.tensors.push_back(*std::move(entry));
  }
  if (absl::Status status = CheckCover(file.path(), header.tensors, *file_bytes - header.data_begin); !status.ok()) {
    return status;
  }
  for (TensorEntry& entry : header.tensors) {
    entry.begin += header.data_begin;
    entry.end += header.data_begin;
  }
  return header;
}

absl::StatusOr<SafetensorsLayout> LayOut(const std::string& path, const std::vector<TensorInfo>& tensors,
                                         const std::map<std::string, std::string>& metadata) {
  SafetensorsLayout layout;
  std::vector<TensorEntry>& entries = layout.header.tensors;
  for (const TensorInfo& tensor : tensors) {
    if (absl::Status status = CheckName(path, tensor.name); !status.ok()) return status;
    const ElementType* type = RowOf(tensor.dtype);
    if (type == nullptr || ElementsOf(tensor.shape) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": `", tensor.name, "`: cannot store ", NameOf(tensor.dtype), ShapeText(tensor.shape)));
    }
    entries.push_back({tensor.name, type->safetensors, tensor.dtype, tensor.shape});
  }
  auto by_name = [](const TensorEntry& a, const TensorEntry& b) { return a.name < b.name; };
  std::sort(entries.begin(), entries.end(), [](const TensorEntry& a, const TensorEntry& b) {
    return SizeOf(a.dtype) != SizeOf(b.dtype) ? SizeOf(a.dtype) > SizeOf(b.dtype) : a.name < b.name;
  });
  Json json = Json::object();
  if (!metadata.empty()) json[kMetadata] = metadata;
  int64_t end = 0;
  for (TensorEntry& entry : entries) {
    if (json.contains(entry.name)) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": `", entry.name, "` stands twice"));
    }
    entry.begin = end;
    int64_t bytes = 0;
    if (__builtin_mul_overflow(ElementsOf(entry.shape), static_cast<int64_t>(SizeOf(entry.dtype)), &bytes) ||
        __builtin_add_overflow(end, bytes, &end) || end > INT64_MAX / 2) {
      return absl::InvalidArgumentError(absl::StrCat(path, ": `", entry.name, "`: the file would be too large"));
    }
    entry.end = end;
    json[entry.name] = {{"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {  // the library has no other way to say that a string is not UTF-8
    text = json.dump();
  } catch (const Json::exception&) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": a tensor's name or the metadata is not UTF-8"));
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  layout.text = std::string(reinterpret_cast<const char*>(&length), kLengthBytes) + text;
  layout.header.metadata = metadata;
  layout.header.data_begin = static_cast<int64_t>(layout.text.size());
  layout.header.checksum = Checksum(1, 0, layout.text.data(), layout.header.data_begin);
  for (TensorEntry& entry : entries) {
    entry.begin += layout.header.data_begin;
    entry.end += layout.header.data_begin;
  }
  layout.file_bytes = layout.header.data_begin + end;
  std::sort(entries.begin(), entries.end(), by_name);
  return layout;
}

}  // namespace weft::checkpoint
