#include "ops/embedding/spec.h"

#include <string>

#include "absl/strings/str_cat.h"

namespace weft::embedding {

absl::StatusOr<GradSpec> ParseGrad(const KernelSpec& spec) {
  RowsInto into = spec.name == "accumulate_embedding_grad" ? RowsInto::kSum : RowsInto::kNew;
  if (spec.attributes.Has("epilogue")) {
    WEFT_ASSIGN_OR_RETURN(const std::string text, spec.attributes.String("epilogue"));
    if (text != "add" || into == RowsInto::kSum) {
      return absl::InvalidArgumentError(absl::StrCat("attribute `epilogue`: expected ",
                                                     into == RowsInto::kSum ? "none" : "add", ", got `", text, "`"));
    }
    into = RowsInto::kTable;
  }
  WEFT_ASSIGN_OR_RETURN(Extents extents,
                        MatchSpec(spec, into == RowsInto::kNew ? "i32:.,float:.h->vh" : "i32:.,float:.h,vh->vh"));
  WEFT_ASSIGN_OR_RETURN(const int64_t size, spec.attributes.Int("vocab"));
  const TensorSpec& table = spec.outputs[0];
  if (size != table.global_dims[0]) {
    return absl::InvalidArgumentError(
        absl::StrCat("output 0: expected a tile of ", size, " rows, got ", table.ToString()));
  }
  return GradSpec{into, extents, size};
}

}  // namespace weft::embedding
