model.import "cycle_b.mlir"
