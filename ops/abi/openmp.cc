// libgomp, opened when a kernel first wants threads: programs neither link nor need
// it. It is the one that oneDNN has, if that is there. Without it work is done by one thread.
#include <dlfcn.h>

extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
void omp_set_num_threads(int threads);
int omp_get_max_threads();
}

namespace {

void* Symbol(const char* name) {
  static void* const library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name);
}

template <typename Function>
Function* Find(Function*, const char* name) {
  return reinterpret_cast<Function*>(Symbol(name));
}

}  // namespace

void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags) {
  static auto* const parallel = Find(&GOMP_parallel, "GOMP_parallel");
  if (parallel != nullptr) return parallel(function, data, threads, flags);
  function(data);
}

int omp_get_thread_num() {
  static auto* const number = Find(&omp_get_thread_num, "omp_get_thread_num");
  return number != nullptr ? number() : 0;
}

int omp_get_num_threads() {
  static auto* const count = Find(&omp_get_num_threads, "omp_get_num_threads");
  return count != nullptr ? count() : 1;
}

void omp_set_num_threads(int threads) {
  static auto* const set = Find(&omp_set_num_threads, "omp_set_num_threads");
  if (set != nullptr) set(threads);
}

int omp_get_max_threads() {
  static auto* const most = Find(&omp_get_max_threads, "omp_get_max_threads");
  return most != nullptr ? most() : 1;
}
