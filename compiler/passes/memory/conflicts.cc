#include "compiler/passes/memory/conflicts.h"

namespace weft::compiler {
namespace {

// A member begins to live, or ends, before what is at a position.
struct Change {
  int64_t position = 0;
  bool begins = false;
  int32_t member = 0;
  auto operator<=>(const Change &) const = default; // ends first
};

} // namespace

Conflicts::Conflicts(llvm::ArrayRef<Block> blocks, llvm::ArrayRef<int32_t> members)
    : words_((members.size() + 63) / 64), rows_(members.size() * words_, 0) {
  int32_t size = int32_t(members.size());
  std::vector<Change> changes;
  llvm::DenseMap<int32_t, int32_t> memberOf;
  for (int32_t m = 0; m < size; ++m) {
    memberOf[members[m]] = m;
    for (Span span : blocks[members[m]].life) {
      changes.push_back({span.first, true, m});
      changes.push_back({span.last + 1, false, m});
    }
  }
  llvm::sort(changes);
  std::vector<uint64_t> live(words_, 0);
  auto row = [&](int32_t m) { return llvm::MutableArrayRef(rows_).slice(size_t(m) * words_, words_); };
  for (const Change &change : changes) {
    if (!change.begins) {
      live[change.member / 64] &= ~(uint64_t(1) << (change.member % 64));
      continue;
    }
    for (auto [all, now] : llvm::zip(row(change.member), live)) {
      all |= now;
    }
    live[change.member / 64] |= uint64_t(1) << (change.member % 64);
  }
  for (int32_t a = 0; a < size; ++a) {
    for (size_t w = 0; w < words_; ++w) {
      for (uint64_t bits = row(a)[w]; bits != 0; bits &= bits - 1) {
        int32_t b = int32_t(w * 64) + llvm::countr_zero(bits);
        row(b)[a / 64] |= uint64_t(1) << (a % 64);
      }
    }
  }
  for (int32_t a = 0; a < size; ++a) {
    for (int32_t other : blocks[members[a]].apart) {
      if (auto it = memberOf.find(other); it != memberOf.end()) {
        row(a)[it->second / 64] &= ~(uint64_t(1) << (it->second % 64));
      }
    }
  }
}

} // namespace weft::compiler
