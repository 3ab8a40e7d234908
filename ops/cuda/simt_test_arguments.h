// The arguments of the kernels of simt_test.cu.
#ifndef WEFT_OPS_CUDA_SIMT_TEST_ARGUMENTS_H_
#define WEFT_OPS_CUDA_SIMT_TEST_ARGUMENTS_H_

struct TestArguments {
  const float* x;
  float* y;
  int flag;
};

#endif  // WEFT_OPS_CUDA_SIMT_TEST_ARGUMENTS_H_
