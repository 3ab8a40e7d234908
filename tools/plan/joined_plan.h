// A plan with generated kernels, for tests.
#ifndef WEFT_TOOLS_PLAN_JOINED_PLAN_H_
#define WEFT_TOOLS_PLAN_JOINED_PLAN_H_

namespace weft::tools {

// A product makes p; two joined operators make s of it; a cast of s did not join them.
inline constexpr char kJoinedPlan[] = R"(
  header { micro_batches: 1 }
  placements { device: "cpu" ranks: 0 }
  stages {
    buffers { name: "x" dtype: F32 shape: [4, 8] slots: 1 kind: INPUT }
    buffers { name: "p" dtype: F32 shape: [4, 8] slots: 1 }
    buffers { name: "h.0.mlp/s" dtype: F32 shape: [4, 8] slots: 1 }
    buffers { name: "c" dtype: BF16 shape: [4, 8] slots: 1 }
    actors {
      name: "forward"
      kernels { name: "einsum" inputs: [0, 0] outputs: 1 }
      kernels {
        name: "add+gelu" inputs: [1, 0] outputs: 2 symbol: "k0_add_gelu" location: "m.mlir:5:1 in h.0"
        attributes { key: "joined" value { string: "add m.mlir:5:1 in h.0\ngelu l.mlir:3:4 in h.0.mlp" } }
      }
      kernels { name: "cast" inputs: 2 outputs: 3 symbol: "k0_add" attributes { key: "apart" value { string: "0 unit" } } }
    }
  })";

}  // namespace weft::tools

#endif  // WEFT_TOOLS_PLAN_JOINED_PLAN_H_
