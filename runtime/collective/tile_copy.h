// Copies a rectangle from one dense tile into another.
#ifndef WEFT_RUNTIME_COLLECTIVE_TILE_COPY_H_
#define WEFT_RUNTIME_COLLECTIVE_TILE_COPY_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::collective {

// Prepared once; Run() and ForEachRun() do not allocate and may be called by
// any thread.
class TileCopy {
 public:
  // The rectangle has `dims`; it lies at `from_origin` in a row-major tile
  // `from_dims` and at `to_origin` in a row-major tile `to_dims`. All five
  // lists have one length. The rectangle lies within both tiles.
  TileCopy(const std::vector<int64_t>& dims, const std::vector<int64_t>& from_dims,
           const std::vector<int64_t>& from_origin, const std::vector<int64_t>& to_dims,
           const std::vector<int64_t>& to_origin, int64_t element_bytes);

  // Calls visit(from, to, bytes) with byte offsets into the two tiles for every
  // contiguous run of the rectangle.
  template <typename Visit>
  void ForEachRun(Visit&& visit) const {
    Loop(0, from_offset_, to_offset_, visit);
  }

  void Run(const void* from, void* to) const;

  // True if the rectangle is one run of bytes in both tiles, from these offsets on.
  bool contiguous() const { return levels_.empty(); }
  int64_t from_offset() const { return from_offset_; }
  int64_t to_offset() const { return to_offset_; }

  // An outer dim of the rectangle; strides in bytes.
  struct Level {
    int64_t count, from_stride, to_stride;
  };
  // Outermost first; the runs lie within the last.
  const std::vector<Level>& levels() const { return levels_; }
  int64_t run_bytes() const { return run_bytes_; }

 private:
  template <typename Visit>
  void Loop(size_t level, int64_t from, int64_t to, Visit& visit) const {
    if (level == levels_.size()) {
      if (run_bytes_ > 0) visit(from, to, run_bytes_);
      return;
    }
    const Level& l = levels_[level];
    for (int64_t i = 0; i < l.count; ++i) Loop(level + 1, from + i * l.from_stride, to + i * l.to_stride, visit);
  }

  std::vector<Level> levels_;
  int64_t run_bytes_;
  int64_t from_offset_ = 0;
  int64_t to_offset_ = 0;
};

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_TILE_COPY_H_
