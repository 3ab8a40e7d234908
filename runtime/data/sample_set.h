// A data set whose samples come one by one, in an order of their own.
#ifndef WEFT_RUNTIME_DATA_SAMPLE_SET_H_
#define WEFT_RUNTIME_DATA_SAMPLE_SET_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "runtime/data/data_set.h"
#include "runtime/data/sample_order.h"

namespace weft::data {

class SampleSet : public DataSet {
 public:
  virtual const SampleOrder& order() const = 0;

  // Writes one row of a tile of checked spec, that of the set's own sample `sample`. kOutOfRange: it holds a number
  // that the spec's type has not.
  virtual absl::Status CopySample(int64_t sample, const TensorSpec& spec, const std::string& field,
                                  void* out) const = 0;

  absl::Status Fill(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch,
                    void* out) const override {
    return FillRows(spec, field, step, micro_batch, out,
                    [&](int64_t sample, void* row) { return CopySample(sample, spec, field, row); });
  }

  // As Fill, where copy(sample, row) writes the row of a sample of the run; what lies behind the batch is 0.
  template <typename Copy>
  absl::Status FillRows(const TensorSpec& spec, const std::string& field, int64_t step, int64_t micro_batch, void* out,
                        Copy&& copy) const {
    if (absl::Status status = Check(spec, field); !status.ok()) return status;
    const absl::StatusOr<int64_t> first = order().First(spec, field, step, micro_batch);
    if (!first.ok()) return first.status();
    const int64_t rows = order().RowsOf(spec, micro_batch);
    auto bytes = static_cast<int64_t>(SizeOf(spec.dtype));  // of a row
    for (int64_t d = 1; d < spec.rank(); ++d) bytes *= spec.dims[d];
    auto* const begin = static_cast<uint8_t*>(out);
    for (int64_t row = 0; row < rows; ++row) {
      if (absl::Status status = copy(*first + row, begin + row * bytes); !status.ok()) return status;
    }
    std::fill(begin + rows * bytes, begin + spec.bytes(), uint8_t{0});
    return absl::OkStatus();
  }
};

}  // namespace weft::data

#endif  // WEFT_RUNTIME_DATA_SAMPLE_SET_H_
