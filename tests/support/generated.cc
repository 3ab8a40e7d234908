#include "tests/support/generated.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compiler/codegen/launch.h"
#include "compiler/codegen/loops.h"
#include "compiler/codegen/object.h"
#include "compiler/codegen/ptx.h"
#include "mlir/IR/BuiltinOps.h"
#include "ops/abi/kernel_names.h"
#include "ops/descriptions.h"
#include "runtime/code/code.h"
#include "runtime/code/levels.h"

namespace weft::testing {
namespace {

using compiler::gpuCodeOf;
using compiler::hostObjectOf;

constexpr char kSymbol[] = "k";

// Compiles kernels, each once. Thread-safe.
class Compiler {
 public:
  Compiler() {
    context_.loadDialect<cell::CellDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
    module_ = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
    builder_.setInsertionPointToEnd(module_->getBody());
  }

  absl::StatusOr<std::unique_ptr<Kernel>> Make(const KernelSpec& spec) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const cell::Subject subject{spec.name, OperandsOf(spec.inputs), OperandsOf(spec.outputs), ConstantsOf(spec)};
    cell::Described described = cell::allDescriptions().describe(builder_, builder_.getUnknownLoc(), kSymbol, subject);
    if (!described.kernel) return absl::InvalidArgumentError("expected what its description fits");
    const mlir::OwningOpRef<cell::KernelOp> kernel = described.kernel;
    if (!compiler::loopsOf(*kernel)) return absl::InvalidArgumentError("expected rows that are pieces of memory");
    const bool on_host = spec.gpu == nullptr;
    plan::Kernel planned;
    planned.set_symbol(kSymbol);
    compiler::setLaunch(*kernel, on_host, planned);
    std::vector<code::RandomTile> randoms;
    for (const cell::Cells::Random& random : described.randoms) {
      randoms.push_back({static_cast<uint64_t>(random.seed), spec.inputs[random.input]});
    }
    WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<const code::Code> code, CodeOf(*kernel, on_host));
    return code->Make(planned, randoms, spec);
  }

 private:
  absl::StatusOr<std::shared_ptr<const code::Code>> CodeOf(cell::KernelOp kernel, bool on_host) {
    std::shared_ptr<const code::Code>& known = codes_[{cell::textOf(kernel), on_host}];
    if (known != nullptr) return known;
    plan::Code code;
    code.set_target(on_host ? code::kHostTarget : code::kGpuTarget);
    code.add_symbols(kSymbol);
    WEFT_ASSIGN_OR_RETURN(*code.mutable_object(), on_host ? hostObjectOf({kernel}) : gpuCodeOf({kernel}));
    WEFT_ASSIGN_OR_RETURN(known, code::Load(code));
    return known;
  }

  mlir::Type TypeOf(DType type) {
    switch (type) {
      case DType::kF32:
        return builder_.getF32Type();
      case DType::kBF16:
        return builder_.getBF16Type();
      case DType::kF16:
        return builder_.getF16Type();
      default:
        return builder_.getIntegerType(static_cast<unsigned>(8 * SizeOf(type)));
    }
  }

  llvm::SmallVector<cell::Operand> OperandsOf(const std::vector<TensorSpec>& tensors) {
    llvm::SmallVector<cell::Operand> operands;
    for (const TensorSpec& tensor : tensors) {
      operands.push_back({llvm::to_vector(tensor.dims), TypeOf(tensor.dtype), llvm::to_vector(tensor.global_dims)});
    }
    return operands;
  }

  mlir::DictionaryAttr ConstantsOf(const KernelSpec& spec) {
    mlir::NamedAttrList constants;
    for (const auto& [name, value] : spec.attributes.values()) {
      if (const auto* integer = std::get_if<int64_t>(&value)) constants.set(name, builder_.getI64IntegerAttr(*integer));
      if (const auto* number = std::get_if<double>(&value)) constants.set(name, builder_.getF64FloatAttr(*number));
      if (const auto* word = std::get_if<std::string>(&value)) constants.set(name, builder_.getStringAttr(*word));
      if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
        constants.set(name, builder_.getI64ArrayAttr(*list));
      }
    }
    return constants.getDictionary(&context_);
  }

  std::mutex mutex_;
  mlir::MLIRContext context_;
  mlir::OpBuilder builder_{&context_};
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  std::map<std::pair<std::string, bool>, std::shared_ptr<const code::Code>> codes_;  // by text; whether for the host
};

absl::StatusOr<std::unique_ptr<Kernel>> Generate(const KernelSpec& spec) {
  static auto* const compiler = new Compiler();
  return compiler->Make(spec);
}

}  // namespace

void RegisterGeneratedKernels(KernelRegistry& registry) {
  const std::vector<std::string> names = registry.Names();
  for (std::string_view name : kKernelNames) {
    const bool is_new = std::find(names.begin(), names.end(), name) == names.end();
    if (is_new && cell::allDescriptions().has(name)) registry.Register(std::string(name), &Generate);
  }
}

}  // namespace weft::testing
