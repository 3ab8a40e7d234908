#include "tools/run/tokens.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/data/indexed_tokens.h"
#include "runtime/data/joined_tokens.h"
#include "runtime/data/token_batches.h"
#include "runtime/data/token_file.h"
#include "runtime/plan/names.h"
#include "tools/run/blend.h"
#include "tools/run/inputs.h"

namespace weft::run {
namespace {

constexpr int64_t kBytes = 256;  // what a byte of text may be

using Stream = std::unique_ptr<const data::TokenStream>;

// How a plan reads tokens.
struct Reading {
  Format format = AUTO;
  data::TokenBatches::Options options;
  std::optional<IdRange> range;
  Extent extent;
};

// What is known of opened tokens.
struct Opened {
  std::unique_ptr<data::TokenBatches> batches;
  data::TokenLook look;
};

// The files NAME.bin of a folder, in order of name; none if it is no folder.
std::vector<std::string> ShardsOf(const std::string& folder) {
  std::vector<std::string> shards;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".bin") shards.push_back(entry.path());
  }
  std::sort(shards.begin(), shards.end());
  return shards;
}

// A text's bytes are ids of a table of other size only if the job says so.
absl::Status CheckText(const data::TokenFile& file, const Reading& reading) {
  const std::optional<IdRange>& range = reading.range;
  if (file.format() != TEXT || reading.format == TEXT || !range.has_value() || range->rows == kBytes) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": expected tokens as uint16 or uint32 (.bin, .npy) below ", range->rows, ", ",
                   range->what, ", got text; with data.format=TEXT its bytes are tokens"));
}

absl::StatusOr<Stream> OpenFile(const std::string& path, const Reading& reading) {
  if (const std::string name = data::IndexedTokens::NameOf(path); !name.empty()) {
    auto documents = data::IndexedTokens::Open(name, reading.options.order);
    if (!documents.ok()) return documents.status();
    const std::string form = (*documents)->form();
    const bool asked = (reading.format == U16 && form == "uint16") || (reading.format == U32 && form == "int32");
    if (reading.format == AUTO || asked) return Stream(*std::move(documents));
    return absl::InvalidArgumentError(absl::StrCat(name, ".bin: tokens: expected ", Format_Name(reading.format),
                                                   ", got ", form, " by ", name, ".idx"));
  }
  absl::StatusOr<std::unique_ptr<const data::TokenFile>> file = data::TokenFile::Open(path, reading.format);
  if (!file.ok()) return file.status();
  if (absl::Status status = CheckText(**file, reading); !status.ok()) return status;
  return Stream(*std::move(file));
}

absl::StatusOr<Stream> OpenStream(const std::string& path, const Reading& reading) {
  const std::vector<std::string> shards = ShardsOf(path);
  if (shards.empty()) return OpenFile(path, reading);
  std::vector<Stream> streams;
  for (const std::string& shard : shards) {
    absl::StatusOr<Stream> stream = OpenFile(shard, reading);
    if (!stream.ok()) return stream.status();
    streams.push_back(*std::move(stream));
  }
  auto joined = data::JoinedTokens::Create(path, std::move(streams));
  if (!joined.ok()) return joined.status();
  return Stream(*std::move(joined));
}

absl::StatusOr<Opened> Open(const std::string& path, const Reading& reading) {
  absl::StatusOr<Stream> stream = OpenStream(path, reading);
  if (!stream.ok()) return stream.status();
  Opened opened{.look = (*stream)->Look()};
  const std::optional<IdRange>& range = reading.range;
  if (range.has_value() && opened.look.largest >= range->rows) {
    return absl::OutOfRangeError(absl::StrCat(opened.look.largest_in, ": expected tokens below ", range->rows, ", ",
                                              range->what, ", got ", opened.look.largest, " at ",
                                              opened.look.largest_at));
  }
  auto batches = data::TokenBatches::Create(*std::move(stream), reading.options);
  if (!batches.ok()) return batches.status();
  opened.batches = *std::move(batches);
  return opened;
}

// For people. `share`: what part of all it is.
std::string TextOf(const Opened& opened, const Reading& reading, double share) {
  const data::TokenStream& tokens = opened.batches->stream();
  const int64_t windows = opened.batches->windows();
  const auto count = [](int64_t number, const char* what) { return absl::StrCat(plan::CountText(number), what); };
  return absl::StrCat(
      count(tokens.size(), " tokens"),
      tokens.documents() > 0 ? count(tokens.documents(), " documents").insert(0, " in ") : "", ", ", tokens.form(),
      ", largest ", plan::CountText(opened.look.largest),
      reading.range.has_value() ? absl::StrCat(" of vocabulary ", plan::CountText(reading.range->rows)) : "",
      opened.look.whole ? "" : " in the parts that were looked at", "; ", count(windows, " sequences of "),
      reading.options.sequence,
      ExtentText(reading.extent, windows, share * static_cast<double>(reading.options.order.global_batch)));
}

// What the job says of tokens is of tokens that there may be.
absl::Status CheckWords(const Data& job, const std::optional<IdRange>& range) {
  std::vector<std::pair<std::string, int64_t>> words;
  if (job.has_end_of_document()) words.emplace_back("data.end_of_document", job.end_of_document());
  for (const int64_t token : job.masked_tokens()) words.emplace_back("data.masked_tokens", token);
  for (const auto& [key, token] : words) {
    if (!range.has_value() || token < range->rows) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(key, ": expected a token below ", range->rows, ", ", range->what, ", got ", token));
  }
  return absl::OkStatus();
}

absl::StatusOr<Reading> ReadingOf(const plan::Plan& plan, const std::string& data, const Extent& extent) {
  const Data& job = plan.header().job().data();
  Reading reading{.format = job.format(), .range = RangeOf(plan, "tokens"), .extent = extent};
  reading.options.order = {.order = extent.once ? SEQUENTIAL : job.order(), .seed = extent.seed, .once = extent.once};
  if (job.has_end_of_document()) reading.options.words.end_of_document = static_cast<int32_t>(job.end_of_document());
  reading.options.words.masked.assign(job.masked_tokens().begin(), job.masked_tokens().end());
  if (job.augment_size() > 0 && !extent.once) {
    return absl::InvalidArgumentError(absl::StrCat(data, ": expected records of images, as data.augment is for `",
                                                   job.augment(0).field(), "`, got tokens"));
  }
  for (const InputInfo& input : InputsOf(plan)) {
    if (input.name != "tokens" || input.shape.size() != 2) continue;
    reading.options.sequence = input.shape[1];
    reading.options.order.global_batch = SamplesOf(plan, input);
  }
  if (absl::Status status = CheckWords(job, reading.range); !status.ok()) return status;
  if (reading.options.sequence > 0) return reading;
  return absl::InvalidArgumentError(
      absl::StrCat(data,
                   ": expected records for the plan's inputs (a .safetensors file, a folder, FIELD=FILE,...), got "
                   "tokens, and no input `tokens` of [batch, sequence] to read them"));
}

}  // namespace

bool HoldsShards(const std::string& folder) { return !ShardsOf(folder).empty(); }

absl::StatusOr<OpenedData> OpenTokens(const plan::Plan& plan, const std::string& data, const Extent& extent) {
  const absl::StatusOr<Reading> reading = ReadingOf(plan, data, extent);
  if (!reading.ok()) return reading.status();
  return OpenParts(plan, data, extent, "data_tokens",
                   [&](const std::string& path, double share) -> absl::StatusOr<OpenedPart> {
                     absl::StatusOr<Opened> opened = Open(path, *reading);
                     if (!opened.ok()) return opened.status();
                     const data::TokenStream& stream = opened->batches->stream();
                     OpenedPart part{.form = stream.form(), .size = stream.size(), .hash = opened->look.hash};
                     part.text = TextOf(*opened, *reading, share);
                     part.set = std::move(opened->batches);
                     return part;
                   });
}

}  // namespace weft::run
