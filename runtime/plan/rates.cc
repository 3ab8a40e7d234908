#include "runtime/plan/rates.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"

namespace weft::plan {
namespace {

bool IsSize(double value) { return value > 0 && std::isfinite(value); }

absl::Status Expected(const std::string& where, const char* expected, const std::string& got) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": expected ", expected, ", got ", got));
}

absl::Status CheckSizes(const std::string& where, std::initializer_list<std::pair<const char*, double>> sizes) {
  for (const auto& [name, value] : sizes) {
    if (!IsSize(value)) return Expected(absl::StrCat(where, ".", name), "a finite number above 0", absl::StrCat(value));
  }
  return absl::OkStatus();
}

// Where x lies among sorted values: those beside it, and how far it is from the first to the second, 0 to 1.
struct Between {
  size_t low, high;
  double part;
};

Between PlaceOf(const std::vector<double>& values, double x) {
  const size_t above = std::upper_bound(values.begin(), values.end(), x) - values.begin();
  if (above == 0) return {0, 0, 0};
  if (above == values.size()) return {above - 1, above - 1, 0};
  return {above - 1, above, (x - values[above - 1]) / (values[above] - values[above - 1])};
}

double Mix(double low, double high, double part) { return low + (high - low) * part; }

}  // namespace

absl::StatusOr<RateTables> RateTables::Of(std::vector<ProductRate> products, std::vector<KernelRate> kernels,
                                          std::vector<CollectiveTime> collectives) {
  RateTables tables;
  for (size_t i = 0; i < products.size(); ++i) {
    const ProductRate& at = products[i];
    const std::string where = absl::StrCat("product[", i, "]");
    if (at.type.empty()) return Expected(where + ".type", "an element type", "none");
    absl::Status status = CheckSizes(where, {{"m", at.m}, {"k", at.k}, {"flops_s", at.flops_s}});
    if (status.ok() && (at.within.empty() || at.n != 0)) status = CheckSizes(where, {{"n", at.n}});
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelRate& at = kernels[i];
    const std::string where = absl::StrCat("kernel[", i, "]");
    if (at.family.empty()) return Expected(where + ".family", "a kernel's name", "none");
    absl::Status status = CheckSizes(where, {{"bytes", at.bytes}, {"bytes_s", at.bytes_s}});
    if (!status.ok()) return status;
    if (at.flops_s != 0) status = CheckSizes(where, {{"flops_s", at.flops_s}});
    if (!status.ok()) return status;
    const double flops = at.flops_s == 0 ? -HUGE_VAL : std::log(at.flops_s);
    Speeds& speeds = tables.speeds_[at.family][at.type];
    if (!speeds.try_emplace(std::log(at.bytes), KernelSpeed{std::log(at.bytes_s), flops}).second) {
      return Expected(where, "one entry a family, type and size",
                      absl::StrCat("another of ", at.family, " ", at.type, at.type.empty() ? "" : " ", at.bytes));
    }
    if ((speeds.begin()->second.flops_s == -HUGE_VAL) != (at.flops_s == 0)) {
      return Expected(where + ".flops_s", "it with all entries of a family and type or with none",
                      at.flops_s == 0 ? "none" : absl::StrCat(at.flops_s));
    }
  }
  for (size_t i = 0; i < collectives.size(); ++i) {
    const CollectiveTime& at = collectives[i];
    const std::string where = absl::StrCat("collective[", i, "]");
    absl::Status status = CheckSizes(where, {{"on_node", static_cast<double>(at.on_node)},
                                             {"nodes", static_cast<double>(at.nodes)},
                                             {"bytes", at.bytes},
                                             {"seconds", at.seconds}});
    if (!status.ok()) return status;
    if (at.on_node * at.nodes < 2) return Expected(where, "2 ranks or more", "1");
    if (!tables.seconds_[{at.kind, at.on_node, at.nodes}]
             .try_emplace(std::log(at.bytes), std::log(at.seconds))
             .second) {
      return Expected(where, "one entry a kind, group and size",
                      absl::StrCat("another of ", NameOf(at.kind), " ", at.on_node, " x ", at.nodes, " ", at.bytes));
    }
  }
  tables.products_ = std::move(products);
  tables.kernels_ = std::move(kernels);
  tables.collectives_ = std::move(collectives);
  if (absl::Status status = tables.AddGrids(); !status.ok()) return status;
  return tables;
}

absl::Status RateTables::AddGrids() {
  using Of = std::pair<std::string, std::string>;  // the kernel that they are within, the element type
  const auto name_of = [](const Of& of) {
    return absl::StrCat("product ", of.first.empty() ? "" : "within " + of.first + ", ", of.second);
  };
  std::map<Of, std::map<std::array<double, 3>, double>> points;
  for (const ProductRate& at : products_) {
    const Of of{at.within, at.type};
    if (!points[of].try_emplace({at.m, at.n, at.k}, std::log(at.flops_s)).second) {
      return Expected(name_of(of), "one entry a shape", absl::StrCat("another of ", at.m, " x ", at.n, " x ", at.k));
    }
  }
  for (const auto& [of, rates] : points) {
    std::array<std::set<double>, 3> sizes;
    for (const auto& [point, rate] : rates) {
      for (int i = 0; i < 3; ++i) sizes[i].insert(point[i]);
    }
    Grid& grid = grids_[of];
    for (int i = 0; i < 3; ++i) {
      for (double size : sizes[i]) grid.sizes[i].push_back(std::log(size));
    }
    for (double m : sizes[0]) {
      for (double n : sizes[1]) {
        for (double k : sizes[2]) {
          const auto it = rates.find({m, n, k});
          if (it == rates.end()) {
            return absl::InvalidArgumentError(absl::StrCat(name_of(of), ": expected an entry for each m, n and k, ",
                                                           "found none for ", m, " x ", n, " x ", k));
          }
          grid.rates.push_back(it->second);
        }
      }
    }
  }
  return absl::OkStatus();
}

double RateTables::FlopsOf(const Product& product) const {
  const auto it = grids_.find({product.within, product.type});
  if (product.m < 1 || it == grids_.end()) return 0;
  const auto& [sizes, rates] = it->second;
  const double rows =
      static_cast<double>(product.m) * (product.within.empty() ? static_cast<double>(product.batch) : 1);
  const double wanted[] = {rows, static_cast<double>(product.n), static_cast<double>(product.k)};
  Between at[3];
  for (int i = 0; i < 3; ++i) at[i] = PlaceOf(sizes[i], std::log(wanted[i]));
  const auto along_k = [&](size_t m, size_t n) {
    const double* row = &rates[(m * sizes[1].size() + n) * sizes[2].size()];
    return Mix(row[at[2].low], row[at[2].high], at[2].part);
  };
  const auto along_n = [&](size_t m) { return Mix(along_k(m, at[1].low), along_k(m, at[1].high), at[1].part); };
  return std::exp(Mix(along_n(at[0].low), along_n(at[0].high), at[0].part));
}

bool RateTables::SpeedOf(const std::string& family, const std::string& type, double bytes, KernelSpeed* speed) const {
  const auto types = speeds_.find(family);
  if (types == speeds_.end()) return false;
  auto it = types->second.find(type);
  for (const char* other : {"", "f32"}) {
    if (it == types->second.end()) it = types->second.find(other);
  }
  if (it == types->second.end()) it = types->second.begin();
  const Speeds& speeds = it->second;
  const double x = std::log(std::max(bytes, 1.0));
  auto high = speeds.lower_bound(x);
  auto low = high;
  if (high == speeds.end()) low = high = std::prev(high);
  if (high != speeds.begin() && high->first > x) low = std::prev(high);
  const double part = low == high ? 0 : (x - low->first) / (high->first - low->first);
  const bool own = low->second.flops_s != -HUGE_VAL;
  *speed = {std::exp(Mix(low->second.bytes_s, high->second.bytes_s, part)),
            own ? std::exp(Mix(low->second.flops_s, high->second.flops_s, part)) : 0};
  return true;
}

double RateTables::SecondsOf(CollectiveKind kind, int64_t on_node, int64_t nodes, double bytes) const {
  const auto it = seconds_.find({kind, on_node, nodes});
  if (it == seconds_.end()) return -1;
  const std::map<double, double>& points = it->second;
  const double x = std::log(std::max(bytes, 1.0));
  if (x <= points.begin()->first) return std::exp(points.begin()->second);
  const auto [last, longest] = *points.rbegin();
  if (x >= last) return std::exp(longest + x - last);
  const auto high = points.upper_bound(x);
  const auto low = std::prev(high);
  return std::exp(Mix(low->second, high->second, (x - low->first) / (high->first - low->first)));
}

}  // namespace weft::plan
