model.import "../files/cycle_a.mlir"
