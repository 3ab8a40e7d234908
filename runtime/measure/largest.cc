#include "runtime/measure/largest.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/measure/alike.h"
#include "runtime/plan/names.h"

namespace weft::plan {
namespace {

std::string Times(int count, const char* what) { return absl::StrCat(CountText(count), " ", what); }

}  // namespace

std::string AlikeTensors::CountText() const {
  std::vector<std::string> parts;
  if (tensors > 1) parts.push_back(Times(tensors, "tensors"));
  if (most > 1)
    parts.push_back(absl::StrCat("for ", fewest < most ? absl::StrCat(fewest, " to ") : "", most, " micro-batches"));
  return absl::StrJoin(parts, ", ");
}

std::vector<AlikeTensors> LargestOf(const Program& program, const StageMemory& memory) {
  const std::vector<Category> categories = CategoriesOf(program);
  const Origins origins(program);
  struct Group {
    Numbered name, origin;
    AlikeTensors tensors;
  };
  std::vector<Group> groups;
  std::map<std::tuple<std::string, std::string, Category, std::string>, size_t> places;
  for (const StageMemory::Live& live : memory.live) {
    const Buffer& buffer = program.buffer(live.buffer);
    const Numbered name(buffer.name()), origin(origins.Of(live.buffer));
    const std::string type = LocalTypeText(*program.placement, buffer);
    const Category category = categories[live.buffer];
    const auto [place, fresh] = places.try_emplace({name.Key(), type, category, origin.Key()}, groups.size());
    if (fresh) groups.push_back({name, origin, {"", type, category, 0, 0, live.count, live.count, ""}});
    Group& group = groups[place->second];
    group.name.Merge(name);
    group.origin.Merge(origin);
    AlikeTensors& tensors = group.tensors;
    tensors.bytes += live.bytes;
    ++tensors.tensors;
    tensors.fewest = std::min(tensors.fewest, live.count);
    tensors.most = std::max(tensors.most, live.count);
  }
  std::vector<size_t> order(groups.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::pair(-groups[a].tensors.bytes, a) < std::pair(-groups[b].tensors.bytes, b);
  });
  std::vector<AlikeTensors> largest;
  for (size_t g : order) {
    AlikeTensors& tensors = largest.emplace_back(std::move(groups[g].tensors));
    tensors.name = groups[g].name.Text();
    tensors.origin = groups[g].origin.Text();
  }
  return largest;
}

std::string PeakText(const Program& program, const StageMemory& memory, int count) {
  std::vector<std::string> categories;
  for (int k = 0; k < kCategories; ++k) {
    if (memory.at_peak[k] == 0) continue;
    categories.push_back(absl::StrCat(NameOf(static_cast<Category>(k)), " ", BytesText(memory.at_peak[k])));
  }
  std::vector<AlikeTensors> largest = LargestOf(program, memory);
  largest.resize(std::min<size_t>(largest.size(), count));
  size_t width = 0;
  for (const AlikeTensors& group : largest) width = std::max(width, BytesText(group.bytes).size());
  std::string text =
      absl::StrCat("\n  at the peak: ", absl::StrJoin(categories, ", "), "\n  the largest tensors there:");
  for (const AlikeTensors& group : largest) {
    const std::string counts = group.CountText();
    absl::StrAppend(&text, "\n    ", absl::StrFormat("%*s", static_cast<int>(width), BytesText(group.bytes)), "  `",
                    group.name, "` ", group.type, " (", counts, counts.empty() ? "" : ", ", NameOf(group.category),
                    group.origin.empty() ? "" : ", made at ", group.origin, ")");
  }
  return text;
}

}  // namespace weft::plan
