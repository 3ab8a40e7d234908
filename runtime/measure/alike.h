// What the layers of a model make alike: names that differ in numbers alone, and where tensors come from.
#ifndef WEFT_RUNTIME_MEASURE_ALIKE_H_
#define WEFT_RUNTIME_MEASURE_ALIKE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/plan/program.h"

namespace weft::plan {

// A text with numbers between dots: of layers, and of operations in them.
class Numbered {
 public:
  explicit Numbered(const std::string& text);

  // The same for texts that differ in numbers alone.
  std::string Key() const;
  // Forgets the numbers that are others in a text of the same key.
  void Merge(const Numbered& other);
  // "h.3.mlp.c_fc/add.23", "h.*.mlp.c_fc/add.*" once there are several.
  std::string Text() const;

 private:
  std::vector<std::string> parts_;
};

// A buffer each: where in the model file it is made, "gpt2.mlir:31:8 in h.3.mlp". What the compiler moves and cuts is
// made where it comes from. Does not own the program.
class Origins {
 public:
  explicit Origins(const Program& program);

  // Empty if unknown.
  const std::string& Of(int32_t buffer) const;

 private:
  struct Maker {
    const std::string* location = nullptr;  // null: nothing makes it
    int32_t from = -1;
  };

  void Add(int32_t b, const std::string& location, int32_t from);

  const Program& program_;
  std::vector<Maker> makers_;  // a root each
};

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_MEASURE_ALIKE_H_
