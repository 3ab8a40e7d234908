#include "runtime/data/data_set.h"

namespace weft::data {
namespace {

class Field : public executor::BatchField {
 public:
  Field(const DataSet& data, const executor::Port& port) : data_(data), name_(port.name), spec_(port.spec) {}
  absl::Status Fill(int64_t step, int64_t micro_batch, void* tile) override {
    return data_.Fill(spec_, name_, step, micro_batch, tile);
  }

 private:
  const DataSet& data_;
  const std::string name_;
  const TensorSpec spec_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<executor::BatchField>> DataSet::Bind(const executor::Port& port) {
  if (absl::Status status = Check(port.spec, port.name); !status.ok()) return status;
  return std::make_unique<Field>(*this, port);
}

}  // namespace weft::data
