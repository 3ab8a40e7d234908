// RUN: weft-opt %s -split-input-file -verify-diagnostics

weft.graph @g("x" %x: tensor<4xf64>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{expected the element type f32, bf16 or f16, got 'f64'}}
  %0 = weft.square_sum %x : (tensor<4xf64>) -> tensor<f32>
}

// -----

weft.graph @g("q" %q: tensor<1xf32>, "c" %c: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{square_sum: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1 = weft.clip_scale %q, %c clip_norm(1.0) : (tensor<1xf32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>, "c" %c: tensor<i32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{count: expected 'tensor<f32>', got 'tensor<i32>'}}
  %0, %1 = weft.clip_scale %q, %c clip_norm(1.0) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{clip_norm: expected at least 0, got -1.000000e+00}}
  %0, %1 = weft.clip_scale %q, %q clip_norm(-1.0) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
}

// -----

// expected-error @+1 {{lr: expected above 0, got 0.000000e+00}}
%0 = weft.learning_rate 0.0 constant : () -> tensor<f32>

// -----

// expected-error @+1 {{schedule: expected one of constant, warmup_cosine, warmup_linear, inverse_sqrt, polynomial, step, warmup_stable_decay, cosine_restarts, count, got cosine}}
%0 = weft.learning_rate 0.1 cosine : () -> tensor<f32>

// -----

// expected-error @+1 {{warmup: expected at least 0, got -1}}
%0 = weft.learning_rate 0.1 warmup_linear warmup(-1) total(10) : () -> tensor<f32>

// -----

// expected-error @+1 {{total: expected above the warmup of 10, got 10}}
%0 = weft.learning_rate 0.1 warmup_cosine warmup(10) total(10) : () -> tensor<f32>

// -----

// expected-error @+1 {{min_ratio: expected 0 to 1, got 1.500000e+00}}
%0 = weft.learning_rate 0.1 warmup_cosine total(10) min_ratio(1.5) : () -> tensor<f32>

// -----

weft.graph @g("p" %p: tensor<4xbf16>, "g" %g: tensor<4xbf16>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{p: expected the element type f32, got 'bf16'}}
  %0 = weft.sgd %p, %g, %lr, %grad_scale weight_decay(0.0) : (tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<f32>) -> tensor<4xbf16>
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<5xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{g: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = weft.sgd %p, %g, %lr, %grad_scale weight_decay(0.0) : (tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "lr" %lr: tensor<1xf32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{lr: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0 = weft.sgd %p, %g, %lr, %grad_scale weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<f32>) -> tensor<4xf32>
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<1xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{grad_scale: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0 = weft.sgd %p, %g, %lr, %grad_scale weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<1xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weight_decay: expected at least 0, got -1.000000e+00}}
  %0 = weft.sgd %p, %g, %lr, %grad_scale weight_decay(-1.0) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> tensor<4xf32>
}

// -----

weft.graph @g("p" %p: tensor<4xbf16>, "g" %g: tensor<4xbf16>, "v" %v: tensor<4xbf16>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{p: expected the element type f32, got 'bf16'}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0) : (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<f32>) -> (tensor<4xbf16>, tensor<4xbf16>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<5xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{g: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0) : (tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "v" %v: tensor<5xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{v: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<1xf32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{lr: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<1xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{grad_scale: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{momentum: expected at least 0 and less than 1, got 1.000000e+00}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(1.0) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weight_decay: expected at least 0, got -1.000000e+00}}
  %0, %1 = weft.sgd_momentum %p, %g, %v, %lr, %grad_scale momentum(0.9) weight_decay(-1.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xbf16>, "g" %g: tensor<4xbf16>, "m" %m: tensor<4xbf16>, "v" %v: tensor<4xbf16>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{p: expected the element type f32, got 'bf16'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<f32>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<5xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{g: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<5xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{m: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<5xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{v: expected 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<1xf32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{lr: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<1xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{grad_scale: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{beta1: expected at least 0 and less than 1, got 1.000000e+00}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(1.0) beta2(0.95) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{beta2: expected at least 0 and less than 1, got 1.000000e+00}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(1.0) eps(1.0e-8) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{eps: expected above 0, got 0.000000e+00}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(0.0) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "g" %g: tensor<4xf32>, "m" %m: tensor<4xf32>, "v" %v: tensor<4xf32>, "lr" %lr: tensor<f32>, "grad_scale" %grad_scale: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{weight_decay: expected at least 0, got -1.000000e+00}}
  %0, %1, %2 = weft.adam %p, %g, %m, %v, %lr, %grad_scale beta1(0.9) beta2(0.95) eps(1.0e-8) weight_decay(-1.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>, "r" %r: tensor<1xf32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{loss_scale: expected 'tensor<f32>', got 'tensor<1xf32>'}}
  %0, %1 = weft.clip_scale %q, %q loss_scale %r clip_norm(1.0) : (tensor<f32>, tensor<f32>, tensor<1xf32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{expected 3 operand types, got 2}}
  %0, %1 = weft.clip_scale %q, %q loss_scale %q clip_norm(1.0) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{step: expected 'tensor<f32>', got 'tensor<4xf32>'}}
  %0 = weft.sgd %p, %p, %q, %q step %p weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

weft.graph @g("q" %q: tensor<f32>, "i" %i: tensor<i32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{good_steps: expected 'tensor<f32>', got 'tensor<i32>'}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %i, %q growth_factor(2.0) backoff_factor(0.5) growth_interval(2000) min(1.0) max(64.0) : (tensor<f32>, tensor<f32>, tensor<i32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{growth_factor: expected at least 1, got 5.000000e-01}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %q, %q growth_factor(0.5) backoff_factor(0.5) growth_interval(2000) min(1.0) max(64.0) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{backoff_factor: expected above 0 and below 1, got 1.000000e+00}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %q, %q growth_factor(2.0) backoff_factor(1.0) growth_interval(2000) min(1.0) max(64.0) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{growth_interval: expected at least 1, got 0}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %q, %q growth_factor(2.0) backoff_factor(0.5) growth_interval(0) min(1.0) max(64.0) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{min: expected above 0, got 0.000000e+00}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %q, %q growth_factor(2.0) backoff_factor(0.5) growth_interval(2000) min(0.0) max(64.0) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

weft.graph @g("q" %q: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{max: expected at least the min of 1.000000e+00, got 5.000000e-01}}
  %0, %1, %2, %3 = weft.loss_scale %q, %q, %q, %q growth_factor(2.0) backoff_factor(0.5) growth_interval(2000) min(1.0) max(0.5) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
}

// -----

// expected-error @+1 {{warmup: expected at least 1, got 0}}
%0 = weft.learning_rate 0.1 inverse_sqrt : () -> tensor<f32>

// -----

// expected-error @+1 {{power: expected above 0, got 0.000000e+00}}
%0 = weft.learning_rate 0.1 polynomial total(10) power(0.0) : () -> tensor<f32>

// -----

// expected-error @+1 {{every: expected at least 1, got 0}}
%0 = weft.learning_rate 0.1 step factor(0.5) : () -> tensor<f32>

// -----

// expected-error @+1 {{expected `every` or `milestones`, got both}}
%0 = weft.learning_rate 0.1 step every(3) milestones[4] : () -> tensor<f32>

// -----

// expected-error @+1 {{decay: expected 1 to the 8 steps behind the warmup, got 9}}
%0 = weft.learning_rate 0.1 warmup_stable_decay warmup(2) total(10) decay(9) : () -> tensor<f32>

// -----

// expected-error @+1 {{period: expected at least 1, got 0}}
%0 = weft.learning_rate 0.1 cosine_restarts : () -> tensor<f32>

// -----

// expected-error @+1 {{growth: expected at least 1, got 0}}
%0 = weft.learning_rate 0.1 cosine_restarts period(3) growth(0) : () -> tensor<f32>

// -----

weft.graph @g("p" %p: tensor<4x3xf32>, "r" %r: tensor<4x1xf32>, "s" %s: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{c: expected 'tensor<1x3xf32>', got 'tensor<4x1xf32>'}}
  %0, %1, %2 = weft.adafactor %p, %p, %r, %r, %s, %s decay(0.8) eps1(1.0e-30) eps2(1.0e-3) clip(1.0) weight_decay(0.0) batch(0) rows(1) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x3xf32>, tensor<4x1xf32>, tensor<1x3xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4x3xf32>, "s" %s: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{rows: expected at least 1, and a dimension of columns behind them, got 2 of 2 dimensions}}
  %0, %1 = weft.muon %p, %p, %p, %s, %s momentum(0.9) weight_decay(0.0) batch(0) rows(2) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4x3xf32>, "s" %s: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{batch: expected 0 to 2, the dimensions of p, got 3}}
  %0, %1 = weft.lars %p, %p, %p, %s, %s momentum(0.9) trust(0.01) weight_decay(0.0) batch(3) : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
}

// -----

weft.graph @g("p" %p: tensor<4xf32>, "s" %s: tensor<f32>) placements [#weft.placement<"cpu", [], [0]>] {
  // expected-error @+1 {{beta2: expected at least 0 and less than 1, got 1.000000e+00}}
  %0, %1 = weft.lion %p, %p, %p, %s, %s beta1(0.9) beta2(1.0) weight_decay(0.0) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
}
