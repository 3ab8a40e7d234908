// The arguments of the kernels of simt_test.cu.
#ifndef WEFT_TESTS_EMULATION_SIMT_SIMT_TEST_ARGUMENTS_H_
#define WEFT_TESTS_EMULATION_SIMT_SIMT_TEST_ARGUMENTS_H_

struct TestArguments {
  const float* x;
  float* y;
  int flag;
};

#endif  // WEFT_TESTS_EMULATION_SIMT_SIMT_TEST_ARGUMENTS_H_
