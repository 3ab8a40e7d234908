// What both sides of weft.rope know.
#ifndef WEFT_OPS_ROPE_LIMITS_H_
#define WEFT_OPS_ROPE_LIMITS_H_

namespace weft::rope {

// Pairs of a head: their frequencies are arguments of the GPU kernel, 2 KiB of the 4 KiB that a launch takes.
inline constexpr int kMaxPairs = 256;

}  // namespace weft::rope

#endif  // WEFT_OPS_ROPE_LIMITS_H_
