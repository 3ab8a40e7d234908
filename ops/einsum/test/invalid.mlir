// RUN: weft-opt %s -allow-unregistered-dialect -split-input-file -verify-diagnostics

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected two operands and a result as in "ij,jk->ik", got "ij,jk"}}
%0 = weft.einsum "ij,jk" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected two operands and a result as in "ij,jk->ik", got "ij->i"}}
%0 = weft.einsum "ij->i" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected two operands and a result as in "ij,jk->ik", got "ij,jk,kl->il"}}
%0 = weft.einsum "ij,jk,kl->il" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected two operands and a result as in "ij,jk->ik", got "ij,jk->ik->i"}}
%0 = weft.einsum "ij,jk->ik->i" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected two operands and a result as in "ij,jk->ik", got "ij,jk->i,k"}}
%0 = weft.einsum "ij,jk->i,k" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected letters, got '1'}}
%0 = weft.einsum "i1,1k->ik" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected letters, got ' '}}
%0 = weft.einsum "i j,jk->ik" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x2xf32>, tensor<2x4xf32>)
// expected-error @+1 {{equation: expected no letter twice in one tensor, got 'i' twice in "ii"}}
%0 = weft.einsum "ii,ik->ik" %a, %b : (tensor<2x2xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected every letter of the result in an operand, got 'z' in none}}
%0 = weft.einsum "ij,jk->iz" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected every letter of one operand alone in the result, got 'i' in one operand only}}
%0 = weft.einsum "ij,jk->k" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{equation: expected every letter of one operand alone in the result, got 'k' in one operand only}}
%0 = weft.einsum "ij,jk->i" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3x4xf32>, tensor<3x4xf32>)
// expected-error @+1 {{lhs: expected 2 dimensions as in "ij", got 'tensor<2x3x4xf32>'}}
%0 = weft.einsum "ij,jk->ik" %a, %b : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{rhs: expected 3 dimensions as in "jkl", got 'tensor<3x4xf32>'}}
%0 = weft.einsum "ij,jkl->ikl" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4x1xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<5x4xf32>)
// expected-error @+1 {{rhs: expected 3 for 'j', got 5 in 'tensor<5x4xf32>'}}
%0 = weft.einsum "ij,jk->ik" %a, %b : (tensor<2x3xf32>, tensor<5x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xi32>, tensor<3x4xi32>)
// expected-error @+1 {{expected a floating-point element type, got 'i32'}}
%0 = weft.einsum "ij,jk->ik" %a, %b : (tensor<2x3xi32>, tensor<3x4xi32>) -> tensor<2x4xi32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xbf16>)
// expected-error @+1 {{rhs: expected the element type 'f32', got 'bf16'}}
%0 = weft.einsum "ij,jk->ik" %a, %b : (tensor<2x3xf32>, tensor<3x4xbf16>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{result type: expected 'f32', got 'bf16'}}
%0 = weft.einsum "ij,jk->ik" %a, %b to bf16 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xbf16>, tensor<3x4xbf16>)
// expected-error @+1 {{result type: expected 'f32', got 'f16'}}
%0 = weft.einsum "ij,jk->ik" %a, %b to f16 : (tensor<2x3xbf16>, tensor<3x4xbf16>) -> tensor<2x4xf16>

// -----

%a, %b = "test.values"() : () -> (tensor<2x3xf32>, tensor<3x4xf32>)
// expected-error @+1 {{result #0: expected 'tensor<2x4xf32>', got 'tensor<4x2xf32>'}}
%0 = weft.einsum "ij,jk->ik" %a, %b : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
