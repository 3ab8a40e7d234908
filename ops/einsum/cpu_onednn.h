// oneDNN, opened when a product first asks for it: programs neither link nor need it.
#ifndef WEFT_OPS_EINSUM_CPU_ONEDNN_H_
#define WEFT_OPS_EINSUM_CPU_ONEDNN_H_

#include <string>

namespace weft::einsum {

// Why there is no library.
std::string OneDnnError();

// The library's functions use the calling thread alone when this thread calls them: kernels have threads of their own
// (ops/abi/parallel.h). Of a primitive the thread that makes it says so as well.
void UseOneThread();

}  // namespace weft::einsum

#endif  // WEFT_OPS_EINSUM_CPU_ONEDNN_H_
