#include "compiler/codegen/object.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/math.h"
#include "compiler/codegen/x86.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "ops/abi/status_macros.h"
#include "runtime/code/levels.h"

LLD_HAS_DRIVER(elf)

namespace weft::compiler {
namespace {

// What code is made for that says nothing else.
constexpr char kTriple[] = "x86_64-unknown-linux-gnu";

void addLowering(mlir::OpPassManager &manager) {
  manager.addPass(createExpandMath());
  manager.addPass(mlir::createCanonicalizerPass());
  manager.addPass(mlir::createCSEPass());
  manager.addPass(mlir::createConvertSCFToCFPass());
  manager.addPass(mlir::createConvertMathToLLVMPass());
  manager.addPass(mlir::createConvertVectorToLLVMPass());
  manager.addPass(mlir::createArithToLLVMConversionPass());
  manager.addPass(mlir::createConvertControlFlowToLLVMPass());
  manager.addPass(mlir::createReconcileUnrealizedCastsPass());
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> hostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (!target) {
    return absl::InternalError(absl::StrCat("generated kernels: LLVM has no ", kTriple, ": ", error));
  }
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, "x86-64", "", llvm::TargetOptions(), llvm::Reloc::PIC_));
}

void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

absl::StatusOr<std::string> assembled(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    return absl::InternalError("generated kernels: LLVM writes no objects");
  }
  passes.run(module);
  return std::string(object);
}

// The linker reads and writes files: a folder that goes with this.
class Folder {
public:
  Folder() {
    llvm::SmallString<128> pattern;
    llvm::sys::path::system_temp_directory(true, pattern);
    llvm::sys::path::append(pattern, "weft-XXXXXX");
    path_ = std::string(pattern);
    made_ = mkdtemp(path_.data()) != nullptr;
  }
  ~Folder() {
    if (made_) {
      llvm::sys::fs::remove_directories(path_);
    }
  }
  bool made() const { return made_; }
  std::string file(const char *name) const { return path_ + "/" + name; }
  const std::string &name() const { return path_; }

private:
  std::string path_;
  bool made_;
};

// Of a file that the machine refuses, by errno.
absl::Status cannotWrite(const char *what, const std::string &path) {
  return absl::UnavailableError(absl::StrCat(what, " ", path, ": cannot be written: ", std::strerror(errno)));
}

absl::StatusOr<std::string> linked(const std::string &object) {
  const Folder folder;
  if (!folder.made()) {
    return cannotWrite("the folder", folder.name());
  }
  const std::string in = folder.file("kernels.o"), out = folder.file("kernels.so");
  if (!std::ofstream(in, std::ios::binary).write(object.data(), std::streamsize(object.size())).flush()) {
    return cannotWrite("generated kernels, in", in);
  }
  // lld has one state in a process.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  const char *arguments[] = {"ld.lld", "-shared", "--no-undefined", "--build-id=none", "--strip-all",
                             "-O1",    "-o",      out.c_str(),      in.c_str()};
  const bool done = lld::elf::link(arguments, stream, stream, /*exitEarly=*/false, /*disableOutput=*/false);
  lld::CommonLinkerContext::destroy();
  if (!done) {
    return absl::InternalError(absl::StrCat("generated kernels cannot be linked: ", errors));
  }
  std::ostringstream text;
  text << std::ifstream(out, std::ios::binary).rdbuf();
  return std::move(text).str();
}

} // namespace

absl::StatusOr<std::string> hostObjectOf(llvm::ArrayRef<cell::KernelOp> kernels) {
  mlir::MLIRContext *context = cell::KernelOp(kernels.front()).getContext();
  context->loadDialect<mlir::LLVM::LLVMDialect, mlir::scf::SCFDialect, mlir::vector::VectorDialect,
                       mlir::cf::ControlFlowDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (cell::KernelOp kernel : kernels) {
    const Loops loops = *loopsOf(kernel);
    for (const code::Level &level : code::kLevels) {
      const std::string symbol = kernel.getSymName().str();
      emitX86(builder, kernel, loops, absl::StrCat(symbol, level.suffix),
              absl::StrCat(symbol, code::kSums, level.suffix), level.processor);
    }
  }
  mlir::PassManager manager(context);
  addLowering(manager);
  if (failed(manager.run(*module))) {
    return absl::InternalError("generated kernels cannot be lowered");
  }
  mlir::DialectRegistry registry;
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  context->appendDialectRegistry(registry);
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code = mlir::translateModuleToLLVMIR(*module, llvmContext, "kernels");
  if (!code) {
    return absl::InternalError("generated kernels cannot be translated");
  }
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, hostMachine());
  code->setDataLayout(machine->createDataLayout());
  code->setTargetTriple(kTriple);
  optimize(*code, *machine);
  WEFT_ASSIGN_OR_RETURN(std::string object, assembled(*code, *machine));
  return linked(object);
}

} // namespace weft::compiler
