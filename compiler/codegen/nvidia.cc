#include "compiler/codegen/nvidia.h"

#include "compiler/codegen/vectors.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/code/levels.h"

namespace weft::compiler {
namespace {

using namespace mlir;

constexpr int64_t kThreads = code::kGpuThreads, kWarp = 32, kWarps = kThreads / kWarp;
constexpr unsigned kGlobal = 1, kShared = 3; // NVVM's address spaces

class Emitter : Vectors {
public:
  Emitter(OpBuilder &b, cell::KernelOp kernel, const Loops &loops, const Blocks &blocks)
      : Vectors(b, kernel, loops, blocks.pack), blocks_(blocks) {}

  void run(StringRef symbol) {
    OpBuilder::InsertionGuard guard(b);
    begin(symbol);
    if (kernel_.getBatch()) {
      emitBatch();
    } else if (blocks_.threads == 0) {
      emitPlaces();
    } else {
      emitRows();
    }
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  }

  void runSums(StringRef symbol) {
    OpBuilder::InsertionGuard guard(b);
    begin(symbol);
    emitSums();
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  }

private:
  // ---- the kernel and its argument ----------------------------------------
  void begin(StringRef symbol) {
    const size_t operands = kernel_.getStrides().size();
    const size_t words = kernel_.getBatch() ? code::kGpuBatchWords : operands + (loops_.sums > 0) + 3 * loops_.randoms;
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            {LLVM::LLVMPointerType::get(b.getContext())});
    auto function = b.create<LLVM::LLVMFuncOp>(loc, symbol, type);
    function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
    function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(), b.getDenseI32ArrayAttr({int32_t(kThreads)}));
    function.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(LLVM::LLVMArrayType::get(b.getI64Type(), unsigned(words))));
    function.setArgAttr(0, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(8));
    Block *entry = function.addEntryBlock(b);
    argument_ = entry->getArgument(0);
    if (size_t slots = sharedSlots(); slots > 0) {
      OpBuilder::InsertionGuard outside(b);
      b.setInsertionPoint(function);
      auto array = LLVM::LLVMArrayType::get(b.getF32Type(), unsigned(slots));
      shared_ = b.create<LLVM::GlobalOp>(loc, array, false, LLVM::Linkage::Internal, ("shared_" + symbol).str(),
                                         Attribute(), 16, kShared);
    }
    b.setInsertionPointToStart(entry);
    thread_ = b.create<NVVM::ThreadIdXOp>(loc, b.getI32Type());
    block_ = b.create<NVVM::BlockIdXOp>(loc, b.getI32Type());
    bases_.clear();
    if (kernel_.getBatch()) {
      return;
    }
    for (size_t operand = 0; operand < operands; ++operand) {
      bases_.push_back(pointer(word(operand)));
      if (const int64_t offset = kernel_.getOffsetOf(unsigned(operand)); offset > 0) {
        bases_.back() = at(bases_.back(), unsigned(operand), i64(offset));
      }
    }
    size_t next = operands;
    if (loops_.sums > 0) {
      partials_ = pointer(word(next++));
    }
    randoms_.clear();
    for (auto random : kernel_.getBody().getOps<cell::RandomOp>()) {
      Value key = word(next), step = pointer(word(next + 1)), first = word(next + 2);
      Value event = b.create<arith::FPToUIOp>(loc, b.getI64Type(), b.create<LLVM::LoadOp>(loc, b.getF64Type(), step));
      randoms_.push_back({random, key, event, first});
      next += 3;
    }
  }

  // Of each reduction what each warp has; of sums over rows what each warp has of kSumPlaces places.
  size_t sharedSlots() {
    size_t reduces = 0;
    for ([[maybe_unused]] auto reduce : kernel_.getBody().getOps<cell::ReduceOp>()) {
      ++reduces;
    }
    const size_t across = blocks_.threads > kWarp ? reduces * size_t(kWarps) : 0;
    return std::max(across, loops_.sums > 0 ? size_t(kThreads) : 0);
  }

  Value word(size_t index) { return word(LLVM::GEPArg(int32_t(index))); }
  Value word(LLVM::GEPArg index) {
    Value slot = b.create<LLVM::GEPOp>(loc, argument_.getType(), b.getI64Type(), argument_, ArrayRef(index));
    return b.create<LLVM::LoadOp>(loc, b.getI64Type(), slot, 8);
  }
  Value pointer(Value address) {
    return b.create<LLVM::IntToPtrOp>(loc, LLVM::LLVMPointerType::get(b.getContext(), kGlobal), address);
  }
  Value shared(Value slot) {
    Value base =
        b.create<LLVM::AddressOfOp>(loc, LLVM::LLVMPointerType::get(b.getContext(), kShared), shared_.getSymName());
    return b.create<LLVM::GEPOp>(loc, base.getType(), b.getF32Type(), base, ValueRange{slot});
  }
  void barrier() { b.create<NVVM::Barrier0Op>(loc); }

  // ---- indices: of 32 bits where all are below 2^31 ------------------------
  bool isNarrow() const {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
    for (size_t operand = 0; operand < loops_.row.strides.size(); ++operand) {
      int64_t last = (loops_.row.extent - 1) * loops_.row.strides[operand];
      for (const Loops::Dim &dim : loops_.outer) {
        last += (dim.extent - 1) * dim.strides[operand];
      }
      if (last > kMost) {
        return false;
      }
    }
    return loops_.rows() * std::max(loops_.row.extent, kThreads) <= kMost;
  }
  Value index(int64_t number) { return narrow_ ? i32(number) : i64(number); }
  Value asIndex(Value number) {
    return narrow_ ? number : Value(b.create<arith::ExtUIOp>(loc, b.getI64Type(), number));
  }
  Value asWide(Value number) {
    return number.getType().isInteger(64) ? number : Value(b.create<arith::ExtUIOp>(loc, b.getI64Type(), number));
  }
  Value add(Value a, Value other) { return b.create<arith::AddIOp>(loc, a, other); }
  Value times(Value a, int64_t factor) { return b.create<arith::MulIOp>(loc, a, numberLike(a, factor)); }
  Value over(Value a, int64_t divisor) { return b.create<arith::DivUIOp>(loc, a, numberLike(a, divisor)); }
  Value rest(Value a, int64_t divisor) { return b.create<arith::RemUIOp>(loc, a, numberLike(a, divisor)); }
  Value isBelow(Value a, Value limit) { return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, a, limit); }
  Value least(Value a, Value other) { return b.create<arith::MinUIOp>(loc, a, other); }
  Value numberLike(Value a, int64_t number) { return a.getType().isInteger(32) ? i32(number) : i64(number); }
  // Both, where a null one is true.
  Value both(Value a, Value other) { return !a ? other : !other ? a : Value(b.create<arith::AndIOp>(loc, a, other)); }

  template <typename Body> void when(Value condition, const Body &body) {
    if (!condition) {
      return body();
    }
    auto branch = b.create<scf::IfOp>(loc, condition, false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  // ---- a pack for each thread ----------------------------------------------
  void emitPlaces() {
    const int64_t packs = loops_.rows() * blocks_.packs;
    Value at = add(times(asIndex(block_), kThreads), asIndex(thread_));
    when(packs % kThreads == 0 ? Value() : isBelow(at, index(packs)), [&] {
      beginRow(over(at, blocks_.packs));
      Value pack = rest(at, blocks_.packs);
      beginPack(pack, Value(), nullptr);
      emitRowValues();
      emitStores();
      when(b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, pack, index(0)), [&] { emitRowStores(); });
    });
  }

  // ---- several tensors -----------------------------------------------------
  void emitBatch() {
    const unsigned shared = kernel_.getNumShared(), operands = unsigned(kernel_.getStrides().size());
    const int64_t first = 1 + shared, each = 2 + operands - shared;
    auto wordOf = [&](Value segment, int64_t index) {
      return word(LLVM::GEPArg(add(times(segment, each), i32(first + index))));
    };
    // The last one that begins at this block or before.
    Value count = b.create<arith::TruncIOp>(loc, b.getI32Type(), word(0)), wide = asWide(block_), segment = i32(0);
    const auto most = uint64_t((code::kGpuBatchWords - first) / each);
    for (int64_t step = int64_t(llvm::PowerOf2Ceil(most)) / 2; step >= 1; step /= 2) {
      Value next = add(segment, i32(step)), exists = isBelow(next, count);
      next = b.create<arith::SelectOp>(loc, exists, next, segment);
      Value begun = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, wordOf(next, 0), wide);
      segment = b.create<arith::SelectOp>(loc, begun, next, segment);
    }
    Value extent = wordOf(segment, 1);
    for (unsigned operand = 0; operand < operands; ++operand) {
      bases_.push_back(pointer(operand < shared ? word(1 + operand) : wordOf(segment, 2 + operand - shared)));
    }
    row_.assign(operands, i64(0));
    values_.clear();
    emitRowValues();
    Value block = b.create<arith::SubIOp>(loc, wide, wordOf(segment, 0));
    auto loop = b.create<scf::ForOp>(loc, i32(0), i32(blocks_.turns), i32(1));
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(loop.getBody());
    Value turn = add(times(block, blocks_.turns), asWide(loop.getInductionVar()));
    Value at = times(add(times(turn, kThreads), asWide(thread_)), blocks_.pack);
    when(isBelow(at, extent), [&] {
      Value end = add(at, i64(blocks_.pack));
      auto branch =
          b.create<scf::IfOp>(loc, b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, end, extent), true);
      for (bool isWhole : {true, false}) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(isWhole ? branch.thenBlock() : branch.elseBlock());
        beginPack(Value(), Value(), nullptr);
        place_ = at;
        end_ = isWhole ? Value() : extent;
        emitStores();
      }
      end_ = Value();
    });
  }

  // The pack at place_, of which those before end_ alone are there; the others have the last one's number.
  Value loadPart(Type element, unsigned operand) {
    Value all = b.create<arith::ConstantOp>(loc, b.getZeroAttr(vectorOf(element)));
    Value last = b.create<arith::SubIOp>(loc, end_, i64(1));
    for (int64_t lane = 0; lane < blocks_.pack; ++lane) {
      Value from = at(bases_[operand], operand, least(add(place_, i64(lane)), last));
      all = b.create<vector::InsertOp>(loc, b.create<LLVM::LoadOp>(loc, element, from), all, ArrayRef<int64_t>{lane});
    }
    return all;
  }
  void storePart(Value value, unsigned operand) {
    for (int64_t lane = 0; lane < blocks_.pack; ++lane) {
      Value place = add(place_, i64(lane));
      when(isBelow(place, end_), [&] {
        Value one = b.create<vector::ExtractOp>(loc, value, ArrayRef<int64_t>{lane});
        b.create<LLVM::StoreOp>(loc, one, at(bases_[operand], operand, place));
      });
    }
  }

  // ---- groups of threads for rows ------------------------------------------
  void emitRows() {
    group_ = over(thread_, blocks_.threads);
    lane_ = rest(thread_, blocks_.threads);
    Value rowBlock = asIndex(blocks_.tiles == 1 ? block_ : over(block_, blocks_.tiles));
    tile_ = blocks_.tiles == 1 ? i32(0) : rest(block_, blocks_.tiles);
    if (loops_.sums == 0) {
      emitGroup(times(rowBlock, blocks_.rowsAtOnce), index(loops_.rows()));
      return;
    }
    auto rowOf = [&](Value block) { return over(times(block, loops_.rows()), blocks_.rowBlocks); };
    Value first = rowOf(rowBlock), end = rowOf(add(rowBlock, index(1)));
    partialRow_ = add(times(rowBlock, blocks_.rowsAtOnce), asIndex(group_));
    SmallVector<Value> zeros;
    if (blocks_.unrolls) {
      zeros.assign(size_t(blocks_.turns) * loops_.sums, splat(b.getF32FloatAttr(0)));
    } else {
      clearPartials();
    }
    auto loop = b.create<scf::ForOp>(loc, first, end, index(blocks_.rowsAtOnce), zeros);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(loop.getBody());
      sums_ = llvm::to_vector(llvm::map_range(loop.getRegionIterArgs(), [](Value value) { return value; }));
      emitGroup(loop.getInductionVar(), end);
      if (blocks_.threads > kWarp && loops_.reduces) {
        barrier(); // before the next rows' warps write what those of these rows read
      }
      if (!zeros.empty()) {
        b.create<scf::YieldOp>(loc, sums_);
      }
    }
    if (blocks_.unrolls) {
      for (int64_t turn = 0; turn < blocks_.turns; ++turn) {
        setPack(i32(turn));
        when(active_, [&] {
          for (size_t sum = 0; sum < loops_.sums; ++sum) {
            b.create<LLVM::StoreOp>(loc, loop.getResult(unsigned(turn) * unsigned(loops_.sums) + unsigned(sum)),
                                    partialOf(sum), packAlign());
          }
        });
      }
    }
  }

  unsigned packAlign() const { return unsigned(4 * blocks_.pack); }

  // This thread's pack of its row of partial sums.
  Value partialOf(size_t sum) {
    Value row = add(times(asWide(partialRow_), int64_t(loops_.sums)), i64(int64_t(sum)));
    Value at = add(times(row, loops_.row.extent), asWide(place_));
    return b.create<LLVM::GEPOp>(loc, partials_.getType(), b.getF32Type(), partials_, ValueRange{at});
  }

  void clearPartials() {
    eachTurn([&] {
      when(active_, [&] {
        for (size_t sum = 0; sum < loops_.sums; ++sum) {
          b.create<LLVM::StoreOp>(loc, splat(b.getF32FloatAttr(0)), partialOf(sum), packAlign());
        }
      });
    });
  }

  template <typename Body> void eachTurn(const Body &body) {
    auto loop = b.create<scf::ForOp>(loc, i32(0), i32(blocks_.turns), i32(1));
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(loop.getBody());
    setPack(loop.getInductionVar());
    body();
  }

  // The pack of a turn, and whether there is one: else this thread does the last one, and writes nothing.
  void setPack(Value turn) {
    Value pack = add(times(add(times(tile_, blocks_.turns), turn), blocks_.threads), lane_);
    const bool all = blocks_.packs % (blocks_.threads * blocks_.turns * blocks_.tiles) == 0;
    active_ = all ? Value() : isBelow(pack, i32(blocks_.packs));
    place_ = times(asIndex(all ? pack : least(pack, i32(blocks_.packs - 1))), blocks_.pack);
  }

  // One row for each group of threads, from `first` on.
  void emitGroup(Value first, Value end) {
    const bool all = loops_.rows() % blocks_.rowsAtOnce == 0 && (loops_.sums == 0 || blocks_.rowsAtOnce == 1);
    Value row = add(first, asIndex(group_));
    rowActive_ = all ? Value() : isBelow(row, end);
    beginRow(all ? row : least(row, b.create<arith::SubIOp>(loc, end, index(1))));
    kept_.assign(blocks_.keeps ? size_t(blocks_.turns) : 0, llvm::DenseMap<Value, Value>());
    size_t slot = 0;
    for (int pass = 0; pass < work_.count(); ++pass) {
      emitRowValues();
      emitReductions(work_.reducesOf(pass), slot);
    }
    emitRowValues();
    if (blocks_.unrolls) {
      for (int64_t turn = 0; turn < blocks_.turns; ++turn) {
        setPack(i32(turn));
        beginPack(Value(), both(rowActive_, active_), keptOf(turn));
        addToSums(size_t(turn)); // before an output is written over what is summed
        emitStores();
      }
    } else {
      eachTurn([&] {
        beginPack(Value(), both(rowActive_, active_), nullptr);
        addToPartials();
        emitStores();
      });
    }
    // A number of the row is written once, also where the row has tiles.
    Value one =
        b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, add(times(tile_, blocks_.threads), lane_), i32(0));
    when(both(rowActive_, one), [&] { emitRowStores(); });
  }

  void addToSums(size_t turn) {
    size_t sum = turn * loops_.sums;
    for (Value value : kernel_.getYielded()) {
      if (cell::SumRowsOp op = cell::sumRowsOf(value)) {
        Value term = valueOf(op.getValue());
        if (rowActive_) {
          term = b.create<arith::SelectOp>(loc, rowActive_, term, splat(b.getF32FloatAttr(0)));
        }
        sums_[sum] = b.create<arith::AddFOp>(loc, sums_[sum], term);
        ++sum;
      }
    }
  }

  void addToPartials() {
    SmallVector<Value> terms;
    for (Value value : kernel_.getYielded()) {
      if (cell::SumRowsOp op = cell::sumRowsOf(value)) {
        terms.push_back(valueOf(op.getValue()));
      }
    }
    when(condition_, [&] {
      for (auto [sum, term] : llvm::enumerate(terms)) {
        Value at = partialOf(sum);
        Value before = b.create<LLVM::LoadOp>(loc, vectorOf(b.getF32Type()), at, packAlign());
        b.create<LLVM::StoreOp>(loc, b.create<arith::AddFOp>(loc, before, term), at, packAlign());
      }
    });
  }

  // ---- reductions along a row ------------------------------------------------
  void emitReductions(ArrayRef<cell::ReduceOp> reduces, size_t &slot) {
    SmallVector<Value> found;
    for (cell::ReduceOp reduce : reduces) {
      found.push_back(splat(b.getF32FloatAttr(neutralOf(reduce))));
    }
    if (blocks_.unrolls) {
      for (int64_t turn = 0; turn < blocks_.turns; ++turn) {
        setPack(i32(turn));
        beginPack(Value(), active_, keptOf(turn));
        found = reducedWith(reduces, found, active_);
      }
    } else {
      auto loop = b.create<scf::ForOp>(loc, i32(0), i32(blocks_.turns), i32(1), found);
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(loop.getBody());
      setPack(loop.getInductionVar());
      beginPack(Value(), active_, nullptr);
      b.create<scf::YieldOp>(loc, reducedWith(reduces, loop.getRegionIterArgs(), active_));
      found = llvm::to_vector(llvm::map_range(loop.getResults(), [](Value value) { return value; }));
    }
    for (auto [one, lanes] : llvm::zip(reduces, found)) {
      cell::ReduceOp reduce = one;
      values_[reduce.getResult()] = acrossWarp(reduce, acrossLanes(reduce, lanes));
    }
    if (blocks_.threads > kWarp) {
      acrossWarps(reduces, slot);
      slot += reduces.size();
    }
  }

  // The first half of a pack with the second one, and so on.
  Value acrossLanes(cell::ReduceOp reduce, Value lanes) {
    SmallVector<Value> terms;
    for (int64_t lane = 0; lane < blocks_.pack; ++lane) {
      terms.push_back(b.create<vector::ExtractOp>(loc, lanes, ArrayRef<int64_t>{lane}));
    }
    for (size_t half = terms.size() / 2; half >= 1; half /= 2) {
      for (size_t i = 0; i < half; ++i) {
        terms[i] = combined(reduce, terms[i], terms[i + half]);
      }
    }
    return terms[0];
  }

  Value acrossWarp(cell::ReduceOp reduce, Value value) {
    for (int64_t distance = std::min(blocks_.threads, kWarp) / 2; distance >= 1; distance /= 2) {
      Value other = b.create<NVVM::ShflOp>(loc, b.getF32Type(), i32(-1), value, i32(distance), i32(kWarp - 1),
                                           NVVM::ShflKind::bfly, UnitAttr());
      value = combined(reduce, value, other);
    }
    return value;
  }

  // What the warps of a row have, in their order.
  void acrossWarps(ArrayRef<cell::ReduceOp> reduces, size_t slot) {
    Value warp = over(thread_, kWarp);
    Value leads = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, rest(thread_, kWarp), i32(0));
    when(leads, [&] {
      for (auto [i, reduce] : llvm::enumerate(reduces)) {
        Value at = add(warp, i32(int64_t(slot + i) * kWarps));
        b.create<LLVM::StoreOp>(loc, values_[cell::ReduceOp(reduce).getResult()], shared(at));
      }
    });
    barrier();
    const int64_t warps = blocks_.threads / kWarp;
    for (auto [i, one] : llvm::enumerate(reduces)) {
      cell::ReduceOp reduce = one;
      Value first = add(times(group_, warps), i32(int64_t(slot + i) * kWarps)), all;
      for (int64_t w = 0; w < warps; ++w) {
        Value term = b.create<LLVM::LoadOp>(loc, b.getF32Type(), shared(add(first, i32(w))));
        all = all ? combined(reduce, all, term) : term;
      }
      values_[reduce.getResult()] = all;
    }
  }

  // ---- sums over rows ----------------------------------------------------------
  // A block has kSumPlaces places, of which each warp adds up every kWarps-th row of partial sums.
  void emitSums() {
    Value lane = rest(thread_, kSumPlaces), slice = over(thread_, kSumPlaces);
    Value place = add(times(block_, kSumPlaces), lane);
    const bool all = loops_.row.extent % kSumPlaces == 0;
    Value isPlace = all ? Value() : isBelow(place, i32(loops_.row.extent));
    place = all ? place : least(place, i32(loops_.row.extent - 1));
    int64_t sum = 0;
    for (auto [output, value] : llvm::enumerate(kernel_.getYielded())) {
      cell::SumRowsOp op = cell::sumRowsOf(value);
      if (!op) {
        continue;
      }
      if (sum > 0) {
        barrier();
      }
      Value zero = b.create<arith::ConstantOp>(loc, b.getF32FloatAttr(0));
      auto loop = b.create<scf::ForOp>(loc, slice, i32(blocks_.partialRows()), i32(kWarps), ValueRange{zero});
      {
        OpBuilder::InsertionGuard inside(b);
        b.setInsertionPointToStart(loop.getBody());
        Value row = add(times(asWide(loop.getInductionVar()), int64_t(loops_.sums)), i64(sum));
        Value at = add(times(row, loops_.row.extent), asWide(place));
        Value from = b.create<LLVM::GEPOp>(loc, partials_.getType(), b.getF32Type(), partials_, ValueRange{at});
        Value term = b.create<LLVM::LoadOp>(loc, b.getF32Type(), from);
        b.create<scf::YieldOp>(loc, ValueRange{b.create<arith::AddFOp>(loc, loop.getRegionIterArgs()[0], term)});
      }
      b.create<LLVM::StoreOp>(loc, loop.getResult(0), shared(thread_));
      barrier();
      Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, slice, i32(0));
      when(both(first, isPlace), [&] {
        Value made;
        for (int64_t w = 0; w < kWarps; ++w) {
          Value term = b.create<LLVM::LoadOp>(loc, b.getF32Type(), shared(add(lane, i32(w * kSumPlaces))));
          made = made ? Value(b.create<arith::AddFOp>(loc, made, term)) : term;
        }
        if (value != op.getResult()) {
          made = computed(value.getDefiningOp(), {made}, false);
        }
        unsigned operand = kernel_.getNumInputs() + unsigned(output);
        b.create<LLVM::StoreOp>(loc, made, at(bases_[operand], operand, asWide(place)));
      });
      ++sum;
    }
  }

  // ---- values --------------------------------------------------------------
  void beginRow(Value row) {
    row_.assign(loops_.row.strides.size(), Value());
    SmallVector<Value> indices(loops_.outer.size());
    for (size_t dim = loops_.outer.size(); dim-- > 0;) {
      int64_t extent = loops_.outer[dim].extent;
      indices[dim] = dim == 0 ? row : rest(row, extent);
      row = dim == 0 ? row : over(row, extent);
    }
    for (size_t operand = 0; operand < row_.size(); ++operand) {
      Value offset = index(0);
      for (auto [dim, at] : llvm::zip(loops_.outer, indices)) {
        offset = add(offset, times(at, dim.strides[operand]));
      }
      row_[operand] = offset;
    }
    values_.clear();
  }

  // Null where nothing is kept.
  llvm::DenseMap<Value, Value> *keptOf(int64_t turn) { return blocks_.keeps ? &kept_[size_t(turn)] : nullptr; }

  // Values are of a pack from now on, of `pack` if it is said, else of place_; those known are in `kept`, if there is
  // one. What is written is so where `condition` holds.
  void beginPack(Value pack, Value condition, llvm::DenseMap<Value, Value> *kept) {
    if (pack) {
      place_ = times(pack, blocks_.pack);
    }
    condition_ = condition;
    once_.clear();
    known_ = kept ? kept : &once_;
  }

  Value rowAddressOf(unsigned operand) override { return at(bases_[operand], operand, asWide(row_[operand])); }

  void emitStores() {
    // All are read before the first is written, as an output may lie over an input.
    SmallVector<std::pair<unsigned, Value>> stores;
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      unsigned operand = kernel_.getNumInputs() + unsigned(index);
      if (!work_.isOfRow(operand) && !cell::sumRowsOf(value)) {
        stores.push_back({operand, valueOf(value)});
      }
    }
    when(condition_, [&] {
      for (auto [operand, value] : stores) {
        if (end_) {
          storePart(value, operand);
        } else {
          b.create<LLVM::StoreOp>(loc, value, addressOf(operand), alignOf(operand));
        }
      }
    });
  }

  void emitRowStores() {
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      unsigned operand = kernel_.getNumInputs() + unsigned(index);
      if (work_.isOfRow(operand)) {
        b.create<LLVM::StoreOp>(loc, values_[value], rowAddressOf(operand));
      }
    }
  }

  // Of the pack.
  Value addressOf(unsigned operand) { return at(bases_[operand], operand, asWide(add(row_[operand], place_))); }
  unsigned alignOf(unsigned operand) {
    return unsigned(blocks_.alignedOf(operand, kernel_, loops_)) * elementOf(operand).getIntOrFloatBitWidth() / 8;
  }

  Value valueOf(Value value) override {
    if (work_.isOfRow(value)) {
      return b.create<vector::BroadcastOp>(loc, vectorOf(values_[value].getType()), values_[value]);
    }
    if (Value known = known_->lookup(value)) {
      return known;
    }
    Value made;
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      unsigned operand = argument.getArgNumber();
      Type type = storedType(argument.getType());
      made = end_ ? loadPart(type, operand)
                  : Value(b.create<LLVM::LoadOp>(loc, vectorOf(type), addressOf(operand), alignOf(operand)));
    } else if (auto random = llvm::dyn_cast<cell::RandomOp>(value.getDefiningOp())) {
      made = drawn(random);
    } else {
      Operation *op = value.getDefiningOp();
      SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return valueOf(v); });
      made = computed(op, operands, true);
    }
    return (*known_)[value] = made;
  }

  Value narrowed(Value number, Type, Type halves) override {
    Type brain = b.getBF16Type();
    Type to = llvm::isa<VectorType>(number.getType()) ? Type(vectorOf(brain)) : brain;
    return b.create<arith::BitcastOp>(loc, halves, b.create<arith::TruncFOp>(loc, to, number));
  }

  // ---- random bits -----------------------------------------------------------
  struct Random {
    cell::RandomOp op;
    Value key, event, first;
  };

  // Words of the pack's elements: those of its blocks of four, from where its first one lies in the first block.
  Value drawn(cell::RandomOp op) {
    const size_t slot =
        size_t(llvm::find_if(randoms_, [&](const Random &random) { return random.op == op; }) - randoms_.begin());
    const Random &random = randoms_[slot];
    const size_t walk = bases_.size() + slot;
    const int64_t stride = loops_.row.strides[walk];
    Value element = add(random.first, asWide(row_[walk]));
    element = stride == 0 ? element : add(element, asWide(place_));
    Value block = b.create<arith::ShRUIOp>(loc, element, i64(2));
    Value before = b.create<arith::TruncIOp>(loc, b.getI32Type(), b.create<arith::AndIOp>(loc, element, i64(3)));
    const int64_t needed = stride == 0 ? 1 : blocks_.pack;
    SmallVector<Value> words;
    for (int64_t i = 0; i < (needed + 3) / 4; ++i) {
      llvm::append_range(words, blockOf(add(block, i64(i)), random));
    }
    SmallVector<Value> picked(words.begin(), words.begin() + needed);
    Value begins = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, before, i32(0));
    // Most tensors' packs begin with a block.
    auto branch = b.create<scf::IfOp>(loc, SmallVector<Type>(size_t(needed), Type(b.getI32Type())), begins, true);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(branch.thenBlock());
      b.create<scf::YieldOp>(loc, picked);
      b.setInsertionPointToStart(branch.elseBlock());
      if (needed > 1) {
        llvm::append_range(words, blockOf(add(block, i64((needed + 3) / 4)), random));
      }
      for (int64_t i = 0; i < needed; ++i) {
        for (int64_t distance = 1; distance < 4 && size_t(i + distance) < words.size(); ++distance) {
          Value isIt = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, before, i32(distance));
          picked[size_t(i)] = b.create<arith::SelectOp>(loc, isIt, words[size_t(i + distance)], picked[size_t(i)]);
        }
      }
      b.create<scf::YieldOp>(loc, picked);
    }
    Value all = splat(b.getI32IntegerAttr(0));
    for (int64_t lane = 0; lane < blocks_.pack; ++lane) {
      all = b.create<vector::InsertOp>(loc, branch.getResult(needed == 1 ? 0 : unsigned(lane)), all,
                                       ArrayRef<int64_t>{lane});
    }
    return all;
  }

  // Philox4x32-10 (ops/abi/philox.h).
  SmallVector<Value> blockOf(Value counter, const Random &random) {
    auto halves = [&](Value wide) {
      Value upper = b.create<arith::ShRUIOp>(loc, wide, i64(32));
      return std::pair<Value, Value>(b.create<arith::TruncIOp>(loc, b.getI32Type(), wide),
                                     b.create<arith::TruncIOp>(loc, b.getI32Type(), upper));
    };
    auto [c0, c1] = halves(counter);
    auto [c2, c3] = halves(random.event);
    auto [k0, k1] = halves(random.key);
    for (int round = 0; round < 10; ++round) {
      auto p0 = b.create<arith::MulUIExtendedOp>(loc, i32(int32_t(0xD2511F53u)), c0);
      auto p1 = b.create<arith::MulUIExtendedOp>(loc, i32(int32_t(0xCD9E8D57u)), c2);
      auto mixed = [&](Value high, Value number, Value key) -> Value {
        return b.create<arith::XOrIOp>(loc, b.create<arith::XOrIOp>(loc, high, number), key);
      };
      c0 = mixed(p1.getHigh(), c1, k0);
      c2 = mixed(p0.getHigh(), c3, k1);
      c1 = p1.getLow();
      c3 = p0.getLow();
      k0 = add(k0, i32(int32_t(0x9E3779B9u)));
      k1 = add(k1, i32(int32_t(0xBB67AE85u)));
    }
    return {c0, c1, c2, c3};
  }

  const Blocks &blocks_;
  const bool narrow_ = isNarrow();
  Value argument_, thread_, block_, partials_;
  LLVM::GlobalOp shared_;
  SmallVector<Value> bases_; // addresses of operands
  SmallVector<Random> randoms_;
  Value group_, lane_, tile_;            // of this thread's row, and in it
  SmallVector<Value> row_;               // where a row begins, by operand and then by random
  Value rowActive_, active_, condition_; // whether there is a row, a pack, something to write; null: always
  Value place_;                          // of a pack in its row
  Value end_;                            // of the row, where the pack goes beyond it; else null
  Value partialRow_;
  SmallVector<Value> sums_;
  llvm::DenseMap<Value, Value> once_; // of a pack
  SmallVector<llvm::DenseMap<Value, Value>> kept_;
  llvm::DenseMap<Value, Value> *known_ = nullptr;
};

} // namespace

void emitNvidia(OpBuilder &builder, cell::KernelOp kernel, const Loops &loops, const Blocks &blocks, StringRef symbol,
                StringRef sums) {
  Emitter emitter(builder, kernel, loops, blocks);
  emitter.run(symbol);
  if (loops.sums > 0) {
    emitter.runSums(sums);
  }
}

} // namespace weft::compiler
