#include "runtime/code/host_code.h"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ops/abi/cpu_level.h"
#include "ops/abi/parallel.h"
#include "ops/abi/status_macros.h"
#include "ops/abi/workspace.h"
#include "runtime/code/levels.h"

namespace weft::code {
namespace {

// The newest level of this processor; null if it has none.
const char* SuffixHere() {
  __builtin_cpu_init();
  if (CpuHasLevel4()) return kLevels[1].suffix;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
    return kLevels[0].suffix;
  }
  return nullptr;
}

absl::Status WriteAll(int file, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      return absl::ResourceExhaustedError(
          absl::StrCat("generated kernels: no memory for them: ", std::strerror(errno)));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

// Whether bytes are a whole shared object for x86-64: the table of its sections ends it, and the loader would map what
// is missing of a cut one.
bool IsWholeObject(const std::string& object) {
  Elf64_Ehdr header;
  if (object.size() < sizeof header) return false;
  std::memcpy(&header, object.data(), sizeof header);
  const bool is_shared = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                         header.e_machine == EM_X86_64 && header.e_type == ET_DYN;
  const uint64_t table = uint64_t{header.e_shnum} * header.e_shentsize;
  return is_shared && header.e_shoff <= object.size() && object.size() - header.e_shoff == table;
}

// What a generated kernel is made of.
struct Parts {
  std::shared_ptr<const HostCode> code;  // keeps the functions
  HostFunction function = nullptr, sums = nullptr;
  int64_t units = 0, grain = 0, groups = 0;
};

class GeneratedKernel : public Kernel {
 public:
  GeneratedKernel(Parts parts, std::shared_ptr<Workspace> partials, const std::vector<RandomTile>& randoms,
                  const KernelSpec& spec)
      : parts_(std::move(parts)),
        partials_(std::move(partials)),
        threads_(spec.threads),
        draws_(randoms.begin(), randoms.end()),
        operands_(spec.inputs.size() + spec.outputs.size() + 1),
        numbers_(3 * randoms.size()) {}

  absl::Status Run(const RunContext& context, absl::Span<const void* const> inputs,
                   absl::Span<void* const> outputs) override {
    void** operand = operands_.data();
    for (const void* input : inputs) *operand++ = const_cast<void*>(input);
    for (void* output : outputs) *operand++ = output;
    *operand = partials_ != nullptr ? partials_->data<float>() : nullptr;
    for (size_t i = 0; i < draws_.size(); ++i) {
      numbers_[3 * i] = static_cast<int64_t>(draws_[i].KeyFor(context));
      numbers_[3 * i + 1] = context.step;
      numbers_[3 * i + 2] = draws_[i].FirstFor(context);
    }
    ForUnits(parts_.function, parts_.units, parts_.grain);
    if (parts_.sums != nullptr) ForUnits(parts_.sums, parts_.groups, kGroups);
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kGroups = 16;  // of a row's sums that are worth a thread: 256 places, over all units

  void ForUnits(HostFunction function, int64_t count, int64_t grain) {
    ParallelFor(threads_, count, grain, [this, function](int64_t begin, int64_t end) {
      function(operands_.data(), numbers_.data(), begin, end);
    });
  }

  const Parts parts_;
  const std::shared_ptr<Workspace> partials_;
  const int threads_;
  const std::vector<Draw> draws_;
  std::vector<void*> operands_;
  std::vector<int64_t> numbers_;
};

// A kernel for several tensors, whose groups of places threads share.
class BatchKernel : public Kernel {
 public:
  BatchKernel(std::shared_ptr<const HostCode> code, HostFunction function, Segments segments, int threads)
      : code_(std::move(code)), function_(function), segments_(std::move(segments)), threads_(threads) {
    for (int64_t elements : segments_.elements) {
      const int64_t before = ends_.empty() ? 0 : ends_.back();
      ends_.push_back(before + (elements + kLanes - 1) / kLanes);
    }
    operands_.resize(segments_.elements.size() * OperandsOfEach());
  }

  absl::Status Run(const RunContext&, absl::Span<const void* const> inputs, absl::Span<void* const> outputs) override {
    void** operand = operands_.data();
    for (size_t segment = 0; segment < ends_.size(); ++segment) {
      for (size_t i = 0; i < segments_.shared; ++i) *operand++ = const_cast<void*>(inputs[i]);
      const size_t first = segments_.shared + segment * segments_.inputs;
      for (size_t i = 0; i < segments_.inputs; ++i) *operand++ = const_cast<void*>(inputs[first + i]);
      for (size_t i = 0; i < segments_.outputs; ++i) *operand++ = outputs[segment * segments_.outputs + i];
    }
    ParallelFor(threads_, ends_.back(), kGrain, [this](int64_t begin, int64_t end) { RunGroups(begin, end); });
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kLanes = 16;   // places of a group, as the compiler's
  static constexpr int64_t kGrain = 512;  // groups that are worth a thread: 8 Ki places

  size_t OperandsOfEach() const { return segments_.shared + segments_.inputs + segments_.outputs; }

  // Groups [begin, end) of all tensors behind one another.
  void RunGroups(int64_t begin, int64_t end) {
    size_t segment = static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), begin) - ends_.begin());
    for (int64_t first = segment == 0 ? 0 : ends_[segment - 1]; begin < end; first = ends_[segment++]) {
      const int64_t last = std::min(end, ends_[segment]);
      function_(operands_.data() + segment * OperandsOfEach(), &segments_.elements[segment], begin - first,
                last - first);
      begin = last;
    }
  }

  const std::shared_ptr<const HostCode> code_;  // keeps the function
  const HostFunction function_;
  const Segments segments_;
  const int threads_;
  std::vector<int64_t> ends_;  // of groups, by segment
  std::vector<void*> operands_;
};

int64_t LargestOf(const KernelSpec& spec) {
  int64_t largest = 1;
  for (const std::vector<TensorSpec>* list : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& operand : *list) largest = std::max(largest, operand.elements());
  }
  return largest;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const HostCode>> HostCode::Load(const plan::Code& made) {
  const char* suffix = SuffixHere();
  if (suffix == nullptr) {
    return absl::InvalidArgumentError(
        "generated kernels: expected a processor with AVX2 and FMA (x86-64-v3), this one has them not");
  }
  const int file = memfd_create("weft-kernels", MFD_CLOEXEC);
  if (file < 0) {
    return absl::ResourceExhaustedError(absl::StrCat("generated kernels: no memory for them: ", std::strerror(errno)));
  }
  const std::shared_ptr<HostCode> code(new HostCode(file, suffix));
  WEFT_RETURN_IF_ERROR(code->Map(made.object()));
  for (const std::string& symbol : made.symbols()) WEFT_RETURN_IF_ERROR(code->Find(symbol).status());
  return code;
}

absl::Status HostCode::Map(const std::string& object) {
  if (!IsWholeObject(object)) {
    return absl::InvalidArgumentError(absl::StrCat("generated kernels: expected a whole shared object for x86-64, got ",
                                                   object.size(), " other bytes"));
  }
  WEFT_RETURN_IF_ERROR(WriteAll(file_, object));
  handle_ = dlopen(absl::StrCat("/proc/self/fd/", file_).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("generated kernels cannot be loaded: ", dlerror()));
}

HostCode::~HostCode() {
  if (handle_ != nullptr) dlclose(handle_);
  close(file_);
}

absl::StatusOr<HostFunction> HostCode::Find(const std::string& symbol) const {
  const std::string name = absl::StrCat(symbol, suffix_);
  void* function = dlsym(handle_, name.c_str());
  if (function == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("generated kernels: expected a function `", name, "`, there is none"));
  }
  return reinterpret_cast<HostFunction>(function);
}

absl::StatusOr<std::unique_ptr<Kernel>> HostCode::Make(const plan::Kernel& kernel,
                                                       const std::vector<RandomTile>& randoms,
                                                       const KernelSpec& spec) const {
  if (kernel.segments() > 0) {
    WEFT_ASSIGN_OR_RETURN(Segments segments, Segments::Of(kernel, spec));
    WEFT_ASSIGN_OR_RETURN(const HostFunction function, Find(kernel.symbol()));
    return std::make_unique<BatchKernel>(shared_from_this(), function, std::move(segments), spec.threads);
  }
  constexpr int64_t kGrain = 8 * 1024;  // elements that are worth a thread
  Parts parts{.units = kernel.units(), .groups = kernel.groups()};
  parts.grain = kGrain / std::max<int64_t>(LargestOf(spec) / std::max<int64_t>(parts.units, 1), 1) + 1;
  WEFT_ASSIGN_OR_RETURN(parts.function, Find(kernel.symbol()));
  std::shared_ptr<Workspace> partials;
  if (kernel.partials() > 0) {
    WEFT_ASSIGN_OR_RETURN(parts.sums, Find(absl::StrCat(kernel.symbol(), kSums)));
    partials = Reserved(spec.workspace, static_cast<size_t>(kernel.units() * kernel.partials()) * sizeof(float));
  }
  parts.code = shared_from_this();
  return std::make_unique<GeneratedKernel>(std::move(parts), std::move(partials), randoms, spec);
}

}  // namespace weft::code
