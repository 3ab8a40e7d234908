// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.add %a, %b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.add %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.add %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.sub %a, %b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.sub %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.sub %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.mul %a, %b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.mul %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.mul %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<2x3xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.div %a, %b : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.div %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.div %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.maximum %a, %b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.maximum %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.maximum %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i8'}}
%0 = weft.minimum %a, %b : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.minimum %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.minimum %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
