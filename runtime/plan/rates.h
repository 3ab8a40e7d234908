// Tables of rates by size, as a calibration measures them; see `Calibration` in cluster.proto.
#ifndef WEFT_RUNTIME_PLAN_RATES_H_
#define WEFT_RUNTIME_PLAN_RATES_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/plan/collective_kind.h"

namespace weft::plan {

// `batch` products of [m, k] by [k, n]; none if m is 0. `type` is that of their operands: "f32", "tf32", "bf16", "f16".
struct Product {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::string type;
  // The kernel that they are a part of, as those of queries by keys are of "attention"; empty: it does nothing else.
  std::string within = {};
};

struct ProductRate {
  std::string type;
  double m, n, k;
  double flops_s;  // 2 FLOPs a multiply-add
  std::string within = {};
};

struct KernelRate {
  std::string family;  // a kernel's name
  double bytes;
  double bytes_s;
  double flops_s;         // of its matrix products; 0: those of the device
  std::string type = {};  // of its elements; empty: any
};

struct CollectiveTime {
  CollectiveKind kind;
  int64_t on_node, nodes;  // ranks on each of so many nodes
  double bytes;            // as of SentBytes()
  double seconds;
};

// What one run of a kernel is to take its time by.
struct KernelSpeed {
  double bytes_s = 0;
  double flops_s = 0;  // 0: those of the device
};

// Immutable; any thread. Between entries rates and seconds are linear in the logarithms of both; see each function for
// what is beyond them.
class RateTables {
 public:
  // kInvalidArgument for a number that is not finite and above 0, an entry twice, and products of an element type, and
  // within one kernel, that are no grid: "product bf16: expected an entry for each m, n and k, found none for 128 x 256
  // x 512".
  static absl::StatusOr<RateTables> Of(std::vector<ProductRate> products, std::vector<KernelRate> kernels,
                                       std::vector<CollectiveTime> collectives);

  // FLOP/s of a product; a batch counts as rows, but not within another kernel. The nearest entry's beyond the table. 0
  // where no entry has its type, or is within its kernel.
  double FlopsOf(const Product& product) const;

  // Of a kernel that moves so many bytes; the nearest entry's beyond the table. Entries of its type go before those of
  // any type, these before those of f32, these before all others. False where the family has no entry.
  bool SpeedOf(const std::string& family, const std::string& type, double bytes, KernelSpeed* speed) const;

  // Below the table its first entry's seconds, above it the last one's bytes/s. -1 where no entry has the kind and the
  // group.
  double SecondsOf(CollectiveKind kind, int64_t on_node, int64_t nodes, double bytes) const;

  const std::vector<ProductRate>& products() const { return products_; }
  const std::vector<KernelRate>& kernels() const { return kernels_; }
  const std::vector<CollectiveTime>& collectives() const { return collectives_; }
  bool empty() const { return products_.empty() && kernels_.empty() && collectives_.empty(); }

 private:
  // Logarithms: of the sizes along m, n and k, and of the rate at each point, row-major.
  struct Grid {
    std::array<std::vector<double>, 3> sizes;
    std::vector<double> rates;
  };
  using Group = std::tuple<CollectiveKind, int64_t, int64_t>;
  using Speeds = std::map<double, KernelSpeed>;  // by log bytes, of logarithms

  absl::Status AddGrids();

  std::vector<ProductRate> products_;
  std::vector<KernelRate> kernels_;
  std::vector<CollectiveTime> collectives_;
  std::map<std::pair<std::string, std::string>, Grid> grids_;    // by the kernel that products are within, and type
  std::map<std::string, std::map<std::string, Speeds>> speeds_;  // by family, and type
  std::map<Group, std::map<double, double>> seconds_;            // by log bytes, of logarithms
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_RATES_H_
