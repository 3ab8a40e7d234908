// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a, %b, %c = "test.values"() : () -> (tensor<4xf32>, tensor<3x4x5xf32>, tensor<3xi32>)
// expected-error @+1 {{expected rows of two or more dimensions, got 'tensor<4xf32>'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<4x5xf32>, tensor<2x3xi32>)
// expected-error @+1 {{matrices: expected three dimensions, got 'tensor<4x5xf32>'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xf32>, tensor<4x5xf32>, tensor<2x3xi32>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xbf16>, tensor<2x3xi32>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xf32>, tensor<3x4x5xbf16>, tensor<2x3xi32>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xi32>, tensor<3x4x5xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xi32>, tensor<3x4x5xi32>, tensor<2x3xi32>) -> tensor<2x6x5xi32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x5xf32>, tensor<3x4x5xf32>, tensor<2x3xi32>)
// expected-error @+1 {{rows: expected 4 columns as 'tensor<3x4x5xf32>' takes, got 'tensor<2x6x5xf32>'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x5xf32>, tensor<3x4x5xf32>, tensor<2x3xi32>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x3xi64>)
// expected-error @+1 {{counts: expected i32, the dimensions of 'tensor<2x6x4xf32>' but the last two and one for the groups, got 'tensor<2x3xi64>'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x3xi64>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>)
// expected-error @+1 {{counts: expected i32, the dimensions of 'tensor<2x6x4xf32>' but the last two and one for the groups, got 'tensor<3xi32>'}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<3xi32>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x4xi32>)
// expected-error @+1 {{counts: expected at most 3 groups, got 4}}
%0 = weft.grouped_matmul %a, %b, %c : (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x4xi32>) -> tensor<2x6x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x3xi32>)
// expected-error @+1 {{result type: expected 'f32', got 'bf16'}}
%0 = weft.grouped_matmul %a, %b, %c to bf16 : (tensor<2x6x4xf32>, tensor<3x4x5xf32>, tensor<2x3xi32>) -> tensor<2x6x5xbf16>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<2x5x5xf32>, tensor<2x3xi32>)
// expected-error @+1 {{rhs: expected the rows of 'tensor<2x6x4xf32>', got 'tensor<2x5x5xf32>'}}
%0 = weft.grouped_outer %a, %b, %c groups(3) : (tensor<2x6x4xf32>, tensor<2x5x5xf32>, tensor<2x3xi32>) -> tensor<3x4x5xf32>

// -----

%a, %b, %c = "test.values"() : () -> (tensor<2x6x4xf32>, tensor<2x6x5xf32>, tensor<2x4xi32>)
// expected-error @+1 {{counts: expected at most 3 groups, got 4}}
%0 = weft.grouped_outer %a, %b, %c groups(3) : (tensor<2x6x4xf32>, tensor<2x6x5xf32>, tensor<2x4xi32>) -> tensor<3x4x5xf32>
