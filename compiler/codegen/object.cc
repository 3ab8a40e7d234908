#include "compiler/codegen/object.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/lowering.h"
#include "compiler/codegen/x86.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "ops/abi/status_macros.h"
#include "runtime/code/levels.h"

LLD_HAS_DRIVER(elf)

namespace weft::compiler {
namespace {

constexpr Processor kHost = {"x86_64-unknown-linux-gnu", "x86-64", ""};

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
  mlir::OwningOpRef<mlir::ModuleOp> module = kernelModule(*cell::KernelOp(kernels.front()).getContext());
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(module->getBody());
  for (cell::KernelOp kernel : kernels) {
    const Loops loops = *loopsOf(kernel);
    for (const code::Level &level : code::kLevels) {
      const std::string symbol = kernel.getSymName().str();
      emitX86(builder, kernel, loops, absl::StrCat(symbol, level.suffix),
              absl::StrCat(symbol, code::kSums, level.suffix), level.processor);
    }
  }
  llvm::LLVMContext context;
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, machineFor(kHost));
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::Module> code, lowered(*module, *machine, context));
  WEFT_ASSIGN_OR_RETURN(std::string object, emitted(*code, *machine, llvm::CodeGenFileType::ObjectFile));
  return linked(object);
}

} // namespace weft::compiler
