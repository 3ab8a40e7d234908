#include "tools/run/sources.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/checkpoint/checksum.h"
#include "runtime/checkpoint/safetensors_reader.h"
#include "runtime/data/indexed_tokens.h"
#include "runtime/data/token_batches.h"
#include "runtime/data/token_file.h"
#include "runtime/plan/names.h"
#include "tools/run/inputs.h"
#include "tools/run/records.h"

namespace weft::run {
namespace {

constexpr int64_t kBytes = 256;  // what a byte of text may be

class TensorSource : public executor::BatchSource {
 public:
  explicit TensorSource(std::unique_ptr<const checkpoint::SafetensorsReader> file) : file_(std::move(file)) {}

  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    absl::StatusOr<const checkpoint::TensorEntry*> entry = file_->Find(port.name);
    if (!entry.ok()) return entry.status();
    return std::make_unique<Field>(*file_, **entry, port.spec);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const checkpoint::SafetensorsReader& file, const checkpoint::TensorEntry& entry, TensorSpec spec)
        : file_(file), entry_(entry), spec_(std::move(spec)) {}
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      return file_.Read(entry_, spec_, spec_.global_dims, checkpoint::Conversion::kWiden, tile);
    }

   private:
    const checkpoint::SafetensorsReader& file_;
    const checkpoint::TensorEntry& entry_;
    const TensorSpec spec_;
  };

  const std::unique_ptr<const checkpoint::SafetensorsReader> file_;
};

}  // namespace

std::string EpochsText(int64_t records, int64_t batch, int64_t steps) {
  if (steps == 0) return "";
  const double epochs = static_cast<double>(batch) * static_cast<double>(steps) / static_cast<double>(records);
  const std::string text = epochs < 0.01  ? "less than 0.01"
                           : epochs < 100 ? absl::StrFormat("%.2g", epochs)
                                          : plan::CountText(static_cast<int64_t>(epochs));
  return absl::StrCat(", ", text, text == "1" ? " epoch" : " epochs", " in ", plan::CountText(steps),
                      steps == 1 ? " step" : " steps");
}

namespace {

// A text's bytes are ids of a table of other size only if the job says so.
absl::Status CheckText(const data::TokenFile& file, Format asked, const std::optional<IdRange>& range) {
  if (file.format() != TEXT || asked == TEXT || !range.has_value() || range->rows == kBytes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file.path(), ": expected tokens as uint16 or uint32 (.bin, .npy) below ", range->rows, ", ",
                   range->what, ", got text; with data.format=TEXT its bytes are tokens"));
}

using Stream = std::unique_ptr<const data::TokenStream>;

absl::StatusOr<Stream> OpenStream(const std::string& path, Format format, const data::SampleOrder::Options& order,
                                  const std::optional<IdRange>& range) {
  if (const std::string name = data::IndexedTokens::NameOf(path); !name.empty()) {
    auto documents = data::IndexedTokens::Open(name, order);
    if (!documents.ok()) return documents.status();
    const std::string form = (*documents)->form();
    if (format == AUTO || (format == U16 && form == "uint16") || (format == U32 && form == "int32")) {
      return Stream(*std::move(documents));
    }
    return absl::InvalidArgumentError(
        absl::StrCat(name, ".bin: tokens: expected ", Format_Name(format), ", got ", form, " by ", name, ".idx"));
  }
  absl::StatusOr<std::unique_ptr<const data::TokenFile>> file = data::TokenFile::Open(path, format);
  if (!file.ok()) return file.status();
  if (absl::Status status = CheckText(**file, format, range); !status.ok()) return status;
  return Stream(*std::move(file));
}

absl::StatusOr<OpenedData> OpenTokens(const plan::Plan& plan, const std::string& path, uint64_t seed, int64_t steps) {
  const Data& job = plan.header().job().data();
  data::TokenBatches::Options options;
  options.order = {.order = job.order(), .seed = seed};
  for (const InputInfo& input : InputsOf(plan)) {
    if (input.name != "tokens" || input.shape.size() != 2) continue;
    options.sequence = input.shape[1];
    options.order.global_batch = input.shape[0] * plan.header().micro_batches();
  }
  if (options.sequence == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        path,
        ": expected records for the plan's inputs (a .safetensors file, a folder, FIELD=FILE,...), got one file of "
        "tokens, and no input `tokens` of [batch, sequence] to read it"));
  }
  const std::optional<IdRange> range = RangeOf(plan, "tokens");
  absl::StatusOr<Stream> stream = OpenStream(path, job.format(), options.order, range);
  if (!stream.ok()) return stream.status();
  const data::TokenLook look = (*stream)->Look();
  if (range.has_value() && look.largest >= range->rows) {
    return absl::OutOfRangeError(absl::StrCat((*stream)->path(), ": expected tokens below ", range->rows, ", ",
                                              range->what, ", got ", look.largest, " at ", look.largest_at));
  }
  auto batches = data::TokenBatches::Create(*std::move(stream), options);
  if (!batches.ok()) return batches.status();
  const data::TokenStream& tokens = (*batches)->stream();
  OpenedData opened;
  opened.record = {{"data", path},
                   {"data_form", tokens.form()},
                   {"data_tokens", absl::StrCat(tokens.size())},
                   {"data_hash", checkpoint::ToHex(look.hash)}};
  const std::string documents = absl::StrCat(" in ", plan::CountText(tokens.documents()), " documents");
  opened.text = absl::StrCat(
      path, ": ", plan::CountText(tokens.size()), " tokens", tokens.documents() > 0 ? documents : "", ", ",
      tokens.form(), ", largest ", plan::CountText(look.largest),
      range.has_value() ? absl::StrCat(" of vocabulary ", plan::CountText(range->rows)) : "",
      look.whole ? "" : " in the parts that were looked at", "; ", plan::CountText((*batches)->windows()),
      " sequences of ", options.sequence, EpochsText((*batches)->windows(), options.order.global_batch, steps));
  opened.source = *std::move(batches);
  return opened;
}

}  // namespace

absl::StatusOr<OpenedData> OpenData(const plan::Plan& plan, const std::string& path, uint64_t seed, int64_t steps) {
  return NamesRecords(path) ? OpenRecords(plan, path, seed, steps) : OpenTokens(plan, path, seed, steps);
}

absl::StatusOr<std::unique_ptr<executor::BatchSource>> OpenTensors(const std::string& path) {
  absl::StatusOr<std::unique_ptr<const checkpoint::SafetensorsReader>> file = checkpoint::SafetensorsReader::Open(path);
  if (!file.ok()) return file.status();
  return std::make_unique<TensorSource>(*std::move(file));
}

}  // namespace weft::run
