// Random models: GPT-2 of random sizes, and graphs of random ops.
//
//   tokens -> emb -> b.0 -> b.1 -> ... -> head -> loss
//               \__________/  a block may also read what an earlier one yields
//
// A block is a few pieces (see Piece in model.cc), each a few ops from [batch, seq, hidden] to the same shape that read
// any earlier values of the block.
#ifndef WEFT_TESTS_FUZZ_MODEL_H_
#define WEFT_TESTS_FUZZ_MODEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/dice.h"

namespace weft::fuzz {

// A piece of a block. The operands count back from the value before it; what is before the first value is the first.
struct Pick {
  int piece = 0;
  int first = 0;
  int second = 0;
};

struct Block {
  std::vector<Pick> picks;
  int far = 0;  // how many blocks further back its second input comes from than its first
  bool residual = false;
};

enum class Loss { kCrossEntropy, kMeanSquare };

struct Model {
  bool gpt2 = false;
  int64_t vocab = 8, seq = 4, hidden = 8, heads = 2, inner = 16;
  double dropout = 0;         // GPT-2's
  int64_t layers = 1;         // GPT-2's
  std::vector<Block> blocks;  // not GPT-2's
  bool tied = false;          // the head to the table
  Loss loss = Loss::kCrossEntropy;
};

Model RandomModel(Dice& dice);

// The text of the model file; GPT-2's imports models/gpt2/gpt2.mlir. `root` is the folder that models/ is in.
std::string TextOf(const Model& model, const std::string& root);

// What a job may not do with the model.
struct Traits {
  // Layers between which the model may be cut, in order.
  std::vector<std::string> layers;
  // Something is pinned to the axis `expert`.
  bool uses_expert = false;
  // Something in it is a function of the micro-batch as a whole: the numbers depend on how the batch is cut.
  bool mixes_batch = false;
  // Something in it, or in its gradient, jumps where two values are equal.
  bool jumps = false;
};

Traits TraitsOf(const Model& model);

}  // namespace weft::fuzz

#endif  // WEFT_TESTS_FUZZ_MODEL_H_
