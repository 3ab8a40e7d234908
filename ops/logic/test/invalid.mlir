// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.greater %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.greater %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.greater %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.greater %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.greater_equal %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.greater_equal %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.greater_equal %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.greater_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.less %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.less %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.less %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.less %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.less_equal %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.less_equal %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.less_equal %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.less_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.equal %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.equal %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.equal %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xbf16>)
// expected-error @+1 {{expected one element type, got 'f32' and 'bf16'}}
%0 = weft.not_equal %a, %b : (tensor<2x3xf32>, tensor<2x3xbf16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi16>, tensor<2x3xi16>)
// expected-error @+1 {{expected a floating-point element type, i32 or i64, got 'i16'}}
%0 = weft.not_equal %a, %b : (tensor<2x3xi16>, tensor<2x3xi16>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
%0 = weft.not_equal %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x3xi8>', got 'tensor<2x3xf32>'}}
%0 = weft.not_equal %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xf32>)
// expected-error @+1 {{b: expected truth values, of the element type i8, got 'f32'}}
%0 = weft.logical_and %a, %b : (tensor<2x3xi8>, tensor<2x3xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2xi8>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xi8>' and 'tensor<2xi8>'}}
%0 = weft.logical_and %a, %b : (tensor<2x3xi8>, tensor<2xi8>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xf32>)
// expected-error @+1 {{b: expected truth values, of the element type i8, got 'f32'}}
%0 = weft.logical_or %a, %b : (tensor<2x3xi8>, tensor<2x3xf32>) -> tensor<2x3xi8>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2xi8>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xi8>' and 'tensor<2xi8>'}}
%0 = weft.logical_or %a, %b : (tensor<2x3xi8>, tensor<2xi8>) -> tensor<2x3xi8>

// -----

%a = "test.value"() : () -> tensor<2x3xi32>
// expected-error @+1 {{a: expected truth values, of the element type i8, got 'i32'}}
%0 = weft.logical_not %a : (tensor<2x3xi32>) -> tensor<2x3xi8>

// -----

%c, %a = "test.values"() : () -> (tensor<2x3xf32>, tensor<2x3xf32>)
// expected-error @+1 {{condition: expected truth values, of the element type i8, got 'f32'}}
%0 = weft.select %c, %a, %a : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%c, %a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi32>)
// expected-error @+1 {{expected one element type, got 'f32' and 'i32'}}
%0 = weft.select %c, %a, %b : (tensor<2x3xi8>, tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>

// -----

%c, %a, %b = "test.values"() : () -> (tensor<2x3xi8>, tensor<3xf32>, tensor<2xf32>)
// expected-error @+1 {{expected shapes that broadcast, got 'tensor<2x3xi8>', 'tensor<3xf32>' and 'tensor<2xf32>'}}
%0 = weft.select %c, %a, %b : (tensor<2x3xi8>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
