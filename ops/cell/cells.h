// An operator's computation, written once: what families say of their operators, and generated kernels are made of.
#ifndef WEFT_OPS_CELL_CELLS_H_
#define WEFT_OPS_CELL_CELLS_H_

#include <map>
#include <optional>
#include <string>

#include "ops/cell/cell.h"

namespace weft::cell {

/// A number at one place, which operators of C++ compute with: a float32, a truth value, or an integer as it is stored.
/// Integers of 8 bits have no sign; others do, and wrap around.
class Cell {
public:
  Cell(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder_(&builder), loc_(loc), value_(value) {}

  mlir::Value value() const { return value_; }
  mlir::OpBuilder &builder() const { return *builder_; }
  mlir::Location loc() const { return loc_; }
  Cell with(mlir::Value value) const { return {*builder_, loc_, value}; }
  /// A constant.
  Cell number(double number) const;

private:
  mlir::OpBuilder *builder_;
  mlir::Location loc_;
  mlir::Value value_;
};

Cell operator+(Cell a, Cell b);
Cell operator-(Cell a, Cell b);
Cell operator*(Cell a, Cell b);
Cell operator/(Cell a, Cell b);
Cell operator-(Cell a);
inline Cell operator+(Cell a, double b) { return a + a.number(b); }
inline Cell operator+(double a, Cell b) { return b.number(a) + b; }
inline Cell operator-(Cell a, double b) { return a - a.number(b); }
inline Cell operator-(double a, Cell b) { return b.number(a) - b; }
inline Cell operator*(Cell a, double b) { return a * a.number(b); }
inline Cell operator*(double a, Cell b) { return b.number(a) * b; }
inline Cell operator/(Cell a, double b) { return a / a.number(b); }
inline Cell operator/(double a, Cell b) { return b.number(a) / b; }

/// False where either is no number, but for `!=`, which is true.
Cell operator<(Cell a, Cell b);
Cell operator<=(Cell a, Cell b);
Cell operator==(Cell a, Cell b);
Cell operator!=(Cell a, Cell b);
inline Cell operator>(Cell a, Cell b) { return b < a; }
inline Cell operator>=(Cell a, Cell b) { return b <= a; }
/// Of truth values.
Cell operator&(Cell a, Cell b);
Cell operator|(Cell a, Cell b);
Cell operator!(Cell a);
/// `a` where `condition` holds, else `b`.
Cell select(Cell condition, Cell a, Cell b);

Cell exp(Cell x);
Cell log(Cell x);
Cell sqrt(Cell x);
Cell tanh(Cell x);
Cell erf(Cell x);
Cell abs(Cell x);
/// 1 / (1 + e^-x).
Cell sigmoid(Cell x);
/// No number if either is none.
Cell maximum(Cell a, Cell b);
Cell minimum(Cell a, Cell b);

/// A tensor that a kernel reads or writes: one rank's tile.
struct Operand {
  llvm::SmallVector<int64_t> shape;
  mlir::Type type;                       // of its elements
  llvm::SmallVector<int64_t> whole = {}; // the shape of the tensor that this is a tile of
};

/// Elements from one to the next along each dimension of a tensor; 0 where there is no next one.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);

/// A kernel to describe: what a plan says of one.
struct Subject {
  std::string name;
  llvm::SmallVector<Operand> inputs, outputs;
  mlir::DictionaryAttr constants;
};

/// Takes the description of one kernel: what each output is at each place, in terms of inputs.
///
/// The domain is the shape of the first output, unless `over` says another. Numbers that are stored as floating-point
/// ones are float32 here.
class Cells {
public:
  /// Makes an empty `cell.kernel` of that name at `builder`.
  Cells(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol, const Subject &subject);

  const Subject &subject() const { return subject_; }
  llvm::ArrayRef<int64_t> domain() const { return domain_; }

  /// Before any operand is asked for.
  void over(llvm::ArrayRef<int64_t> shape) { domain_ = llvm::to_vector(shape); }
  /// The last `dims` dimensions of the domain are a row, along which is reduced.
  void rows(int64_t dims = 1);
  /// Places of a row.
  int64_t rowSize() const { return row_; }

  /// An input, aligned with the domain at the last dimension; a missing one, or one of size 1, is repeated. Refuses
  /// integers.
  Cell in(unsigned index);
  /// The same, integers as they are stored.
  Cell inAsStored(unsigned index);
  /// An input as it is stored, dimensions of it in any order or a part of it: its element `offset` at the first place,
  /// and from a place to the next one along each dimension of the domain so many elements further.
  Cell inAt(unsigned index, llvm::ArrayRef<int64_t> strides, int64_t offset = 0);
  /// Whether an input of bytes is true: not 0.
  Cell isTrue(unsigned index);
  /// An input that has one number a row.
  Cell inOfRow(unsigned index);
  /// Truth values are 1 and 0 in whatever an output is stored as; integers are of its type.
  void out(unsigned index, Cell value);
  /// `value` as `out` takes it for an output of another type. A float32 loses what is behind the point; beyond the
  /// range of an integer it is the smallest or the largest one, and what is no number is 0.
  Cell converted(Cell value, unsigned output);
  void outOfRow(unsigned index, Cell value);
  unsigned numInputs() const { return unsigned(subject_.inputs.size()); }
  unsigned numOutputs() const { return unsigned(subject_.outputs.size()); }

  /// Whether a place has luck, with the probability 1 - `rate`: the same for every layout. The place is that in the
  /// whole of an input that has the domain's shape; `seed` is a constant of the kernel.
  Cell hasLuck(double rate, unsigned input, llvm::StringRef seed);

  Cell rowSum(Cell x);
  Cell rowMax(Cell x);
  /// Over all rows; for `out` alone, of an output that has the shape of a row.
  Cell sumRows(Cell x);
  Cell number(double number);

  /// A constant of the kernel. The kernel is refused if it has none of that name and kind.
  double constant(llvm::StringRef name);
  llvm::StringRef word(llvm::StringRef name);
  int64_t integer(llvm::StringRef name);
  llvm::SmallVector<int64_t> integers(llvm::StringRef name);
  bool has(llvm::StringRef name) const { return bool(subject_.constants.get(name)); }

  /// This cannot be described: shapes that do not fit, types without arithmetic.
  void refuse() { refused_ = true; }

  /// The kernel; null if it is refused or some output was not given.
  KernelOp finish();
  /// What each `cell.random` of the kernel is of.
  struct Random {
    unsigned input;
    int64_t seed;
  };
  llvm::ArrayRef<Random> randoms() const { return randoms_; }

private:
  using Strides = llvm::SmallVector<int64_t>;
  std::optional<Strides> aligned(llvm::ArrayRef<int64_t> shape) const;
  std::optional<Strides> ofRows(llvm::ArrayRef<int64_t> shape) const;
  Cell input(unsigned index, std::optional<Strides> strides, bool asStored = false);
  mlir::Value stored(mlir::Value value, mlir::Type type);
  void output(unsigned index, std::optional<Strides> strides, Cell value);

  const Subject &subject_;
  mlir::OpBuilder builder_;
  mlir::Location loc_;
  KernelOp kernel_;
  llvm::SmallVector<int64_t> domain_;
  int64_t rowDims_ = 0, row_ = 1;
  llvm::SmallVector<std::optional<Strides>> strides_; // of inputs, then of outputs
  llvm::SmallVector<int64_t> offsets_;                // of all of these
  llvm::SmallVector<mlir::Value> read_, written_;     // null until they are
  llvm::SmallVector<Random> randoms_;
  bool refused_ = false;
};

/// A kernel that was described.
struct Described {
  KernelOp kernel;
  llvm::SmallVector<Cells::Random> randoms;
};

/// What describes the kernels of one name.
using Description = void (*)(Cells &cells);

/// Descriptions by the names of kernels.
class Descriptions {
public:
  void add(const std::string &name, Description description) { byName_[name] = description; }
  bool has(llvm::StringRef name) const { return byName_.count(name.str()) > 0; }
  /// The kernel that computes what `subject` says, its block's arguments the inputs; null, and nothing is made, if
  /// nothing describes it.
  Described describe(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef symbol,
                     const Subject &subject) const;

private:
  std::map<std::string, Description> byName_;
};

} // namespace weft::cell

#endif // WEFT_OPS_CELL_CELLS_H_
