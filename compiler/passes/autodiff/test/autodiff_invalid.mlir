// RUN: weft-opt %s --weft-autodiff -split-input-file -verify-diagnostics

// An op that has no gradient stands between a parameter and the loss.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @not_differentiable("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{'weft.square_sum' op expected a differentiable op between a parameter and the loss}}
  %loss = weft.square_sum %0 : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %loss : (tensor<f32>)
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @no_parameter("x" %x: tensor<4xf32>) placements [#one] {
  %s = weft.parameter "s" [4] init(zeros) state : () -> tensor<4xf32>
  %0 = weft.mul %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  // expected-error @+1 {{'weft.minimize' op expected a loss that depends on a parameter}}
  weft.minimize %loss : (tensor<f32>)
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @two_losses("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [] init(zeros) : () -> tensor<f32>
  // expected-error @+1 {{'weft.minimize' op expected a name, as the graph minimizes several losses: weft.minimize "name" %loss}}
  weft.minimize %w : (tensor<f32>)
  weft.minimize %w : (tensor<f32>)
}

// -----

// A parameter without influence is not an error, but told; optimizer state is not.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @unused("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [] init(zeros) : () -> tensor<f32>
  // expected-warning @+1 {{parameter u does not influence the loss}}
  %u = weft.parameter "u" [4] init(zeros) : () -> tensor<4xf32>
  %s = weft.parameter "s" [4] init(zeros) state : () -> tensor<4xf32>
  %0 = weft.mul %u, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  weft.output "side" %0 : (tensor<4xf32>)
  weft.minimize %w : (tensor<f32>)
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @unseeded("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{seed: expected one before differentiation, so that both directions drop the same elements}}
  %1 = weft.dropout %0 rate(0.5) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.reduce sum %1 over [0] : (tensor<4xf32>) -> tensor<f32>
  weft.minimize %2 : (tensor<f32>)
}

// -----

// The optimizer would overwrite what is assigned.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @assigned("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %x, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  // expected-error @+1 {{parameter w: expected one that the optimizer does not update, got one that influences the loss}}
  weft.assign %w, %x : (tensor<4xf32>, tensor<4xf32>)
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Nothing flows back to the weights of a cross entropy, so that they may not depend on what is learnt.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @learnt_weights("labels" %l: tensor<4xi32>) placements [#one] {
  %x = weft.parameter "x" [4, 8] init(zeros) : () -> tensor<4x8xf32>
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.exp %w : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{weights: expected numbers that depend on no parameter, as nothing flows back to them; weft.stop_gradient makes such}}
  %loss, %count = weft.cross_entropy %x, %l weights(%0) : (tensor<4x8xf32>, tensor<4xi32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>)
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}

// -----

// The inner sum is not whole before the last micro-batch.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @sum_of_sums("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  %1 = weft.accumulate %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = weft.mul %1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{expected a value that each micro-batch makes, got one made of a weft.accumulate, which is there once a step}}
  %3 = weft.accumulate %2 : (tensor<4xf32>) -> tensor<4xf32>
  weft.output "sum" %3 : (tensor<4xf32>)
  weft.minimize %loss : (tensor<f32>)
}

// -----

#one = #weft.placement<"cpu", [], [0]>
weft.graph @loss_of_a_sum("x" %x: tensor<4xf32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.accumulate %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = weft.mul %w, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %1 over [0] : (tensor<4xf32>) -> tensor<f32>
  // expected-error @+1 {{expected a value that each micro-batch makes, got one made of a weft.accumulate, which is there once a step}}
  weft.minimize %loss : (tensor<f32>)
}

// -----

// Nor is a loss divided by a sum.
#one = #weft.placement<"cpu", [], [0]>
weft.graph @per_a_sum("x" %x: tensor<4xf32>, "n" %n: tensor<f32>) placements [#one] {
  %w = weft.parameter "w" [4] init(zeros) : () -> tensor<4xf32>
  %0 = weft.mul %w, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = weft.reduce sum %0 over [0] : (tensor<4xf32>) -> tensor<f32>
  %count = weft.accumulate %n : (tensor<f32>) -> tensor<f32>
  // expected-error @+1 {{expected a value that each micro-batch makes, got one made of a weft.accumulate, which is there once a step}}
  weft.minimize %loss per %count : (tensor<f32>, tensor<f32>)
}
