// RUN: weft-opt %s -split-input-file -verify-diagnostics

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  // expected-error @+1 {{buffer: expected a tensor type with an SBP, got 'tensor<8x4xf32>'}}
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  // expected-error @+1 {{'task.buffer' op slots: expected 1 or more, got 0}}
  %a = task.buffer "a" activation slots(0) : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.alias' op expected as many elements of one type, got 'tensor<8x4xf32, #weft.sbp<B, B>>' and 'tensor<31xf32, #weft.sbp<B, B>>'}}
  %b = task.alias %a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>> as !task.buffer<tensor<31xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.alias' op expected as many elements of one type, got 'tensor<8x4xf32, #weft.sbp<B, B>>' and 'tensor<8x4xi32, #weft.sbp<B, B>>'}}
  %b = task.alias %a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>> as !task.buffer<tensor<8x4xi32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.kernel' op in_place: expected 1 entries, one an output, got 2}}
  task.kernel "k" ins(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) outs(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) {} micro in_place [0, 0]
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.kernel' op in_place: expected -1 or an input below 1, got 1}}
  task.kernel "k" ins(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) outs(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) {} micro in_place [1]
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.kernel' op in_place: expected -1 or an input below 1, got -2}}
  task.kernel "k" ins(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) outs(%a : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>) {} micro in_place [-2]
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op expected one number of mesh axes, got 1 and 2}}
  task.collective all_reduce [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axes: expected ascending axes below 2, got 0}}
  task.collective all_reduce [1, 0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axes: expected ascending axes below 2, got 0}}
  task.collective all_reduce [0, 0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axes: expected ascending axes below 2, got 2}}
  task.collective all_reduce [2] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axes: expected ascending axes below 2, got -1}}
  task.collective all_reduce [-1] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

// What is no member does not change.
task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 1: expected a change that all_reduce leaves alone, got P to B}}
  task.collective all_reduce [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, P>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_reduce makes, got S(0) to B}}
  task.collective all_reduce [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_reduce makes, got P to P}}
  task.collective all_reduce [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
}

// -----

// Sums and maxima are told apart.
task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P(max), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_reduce makes, got P(max) to B}}
  task.collective all_reduce [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P(max), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_reduce makes, got P to B}}
  task.collective all_reduce [0] max %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that reduce_scatter makes, got P to S(1)}}
  task.collective reduce_scatter [0] dim 0 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that reduce_scatter makes, got P to S(0)}}
  task.collective reduce_scatter [0] %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that reduce_scatter makes, got B to S(0)}}
  task.collective reduce_scatter [0] dim 0 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_gather makes, got S(0) to B}}
  task.collective all_gather [0] dim 1 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_gather makes, got P to B}}
  task.collective all_gather [0] dim 0 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<P, B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<B, B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_to_all makes, got S(0) to S(1)}}
  task.collective all_to_all [0] dim 0 split 0 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that all_to_all makes, got S(0) to S(1)}}
  task.collective all_to_all [0] dim 1 split 1 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
}

// -----

task.program @p on #weft.placement<"cpu", [data = 2, tensor = 2], [0, 1, 2, 3]> micro_batches(1) {
  %a = task.buffer "a" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
  // expected-error @+1 {{'task.collective' op axis 0: expected a change that shift makes, got S(0) to S(1)}}
  task.collective shift [0] dim 0 by 1 %a to %b micro : !task.buffer<tensor<8x4xf32, #weft.sbp<S(0), B>>>, !task.buffer<tensor<8x4xf32, #weft.sbp<S(1), B>>>
}

// -----

// Declared constraints.
task.program @p on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'kind' [activation, parameter, optimizer, gradient, communication, input, output, working, cache]}}
  %a = task.buffer "a" scratch : !task.buffer<tensor<4xf32, #weft.sbp<>>>
}

// -----

// Buffers are those of the program.
!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
%a = task.buffer "a" activation : !t
// expected-note @+1 {{required by region isolation constraints}}
task.program @p on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  // expected-error @+1 {{'task.metric' op using value defined outside the region}}
  task.metric "a" %a : !t
}

// -----

!t = !task.buffer<tensor<4xf32, #weft.sbp<>>>
%x = weft.parameter "x" [4] init(zeros) : () -> tensor<4xf32>
// expected-error @+1 {{'task.metric' op operand #0 must be Memory for one rank's tile of a global tensor, but got 'tensor<4xf32>'}}
"task.metric"(%x) <{name = "x"}> : (tensor<4xf32>) -> ()

// -----

task.program @p on #weft.placement<"cpu", [], [0]> micro_batches(2) {
  %a = task.buffer "a" activation : !task.buffer<tensor<4xf32, #weft.sbp<>>>
  %b = task.buffer "b" gradient : !task.buffer<tensor<4xf32, #weft.sbp<>>>
  // expected-error @+1 {{'task.kernel' op accumulate: expected a term and a sum, and the same sum as output}}
  task.kernel "accumulate" ins(%b, %a : !task.buffer<tensor<4xf32, #weft.sbp<>>>, !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%b : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro
}

// -----

task.program @p on #weft.placement<"cpu", [], [0]> micro_batches(1) {
  %a = task.buffer "a" input : !task.buffer<tensor<4xf32, #weft.sbp<>>>
  %b = task.buffer "b" activation : !task.buffer<tensor<4xf32, #weft.sbp<>>>
  // expected-error @+1 {{'task.kernel' op input: expected no inputs and one output, got 1 and 1}}
  task.kernel "input" ins(%b : !task.buffer<tensor<4xf32, #weft.sbp<>>>) outs(%a : !task.buffer<tensor<4xf32, #weft.sbp<>>>) {} micro
}
