#include "compiler/codegen/x86.h"

#include <algorithm>

#include "compiler/codegen/vectors.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace weft::compiler {
namespace {

using namespace mlir;

// Bytes that kernels of large tensors ask for ahead: a page, at whose end a processor stops to look ahead by itself.
constexpr int64_t kAhead = 4096;
// Worth more than a load and a store of a row that is in the cache.
bool isCostly(Operation *op) { return llvm::isa<math::ExpOp, math::TanhOp, math::ErfOp, math::LogOp>(op); }

class Emitter : Vectors {
public:
  Emitter(OpBuilder &b, cell::KernelOp kernel, const Loops &loops) : Vectors(b, kernel, loops, kLanes) {
    if (loops_.row.extent <= kKeptRow) {
      findKept();
    }
  }

  void run(StringRef symbol, StringRef processor) {
    OpBuilder::InsertionGuard guard(b);
    Block *entry = begin(symbol, processor);
    for (Operation *op : kept_) {
      Value places = i64(loops_.groups() * kLanes);
      scratch_[op] = b.create<LLVM::AllocaOp>(loc, pointer(), b.getF32Type(), places, 64);
    }
    for (auto random : kernel_.getBody().getOps<cell::RandomOp>()) {
      addRandom(random, entry->getArgument(1));
    }
    Value begin = entry->getArgument(2), end = entry->getArgument(3);
    if (kernel_.getBatch()) {
      emitFlat(begin, end, b.create<LLVM::LoadOp>(loc, b.getI64Type(), entry->getArgument(1)));
    } else if (loops_.isFlat()) {
      emitFlat(begin, end, i64(loops_.row.extent));
    } else {
      each(begin, end, [&](Value unit) { emitUnit(unit); });
    }
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  }

  // The sums of all units.
  void runSums(StringRef symbol, StringRef processor) {
    OpBuilder::InsertionGuard guard(b);
    Block *entry = begin(symbol, processor);
    Value begin = entry->getArgument(2), end = entry->getArgument(3);
    Value whole = b.create<arith::MinSIOp>(loc, end, i64(wholePlaces() / kLanes));
    each(begin, whole, [&](Value group) { emitSums(group, Value()); });
    if (wholePlaces() < loops_.row.extent) {
      Value last = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, end, i64(loops_.groups()));
      auto tail = b.create<scf::IfOp>(loc, last, false);
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(tail.thenBlock());
      emitSums(i64(loops_.groups() - 1), tailMask());
    }
    b.create<LLVM::ReturnOp>(loc, ValueRange());
  }

private:
  LLVM::LLVMPointerType pointer() { return LLVM::LLVMPointerType::get(b.getContext()); }

  // Begins a function.
  Block *begin(StringRef symbol, StringRef processor) {
    auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                            {pointer(), pointer(), b.getI64Type(), b.getI64Type()});
    auto function = b.create<LLVM::LLVMFuncOp>(loc, symbol, type);
    auto attribute = [&](StringRef name, StringRef value) -> Attribute { return b.getStrArrayAttr({name, value}); };
    // The object calls no library, memset and memcpy neither.
    function.setPassthroughAttr(b.getArrayAttr(
        {attribute("target-cpu", processor), attribute("prefer-vector-width", "512"), b.getStringAttr("no-builtins")}));
    Block *entry = function.addEntryBlock(b);
    b.setInsertionPointToStart(entry);
    bases_.clear();
    for (unsigned operand = 0; operand < kernel_.getStrides().size() + (loops_.sums > 0); ++operand) {
      Value slot = b.create<LLVM::GEPOp>(loc, pointer(), pointer(), entry->getArgument(0),
                                         ArrayRef<LLVM::GEPArg>{int32_t(operand)});
      bases_.push_back(b.create<LLVM::LoadOp>(loc, pointer(), slot));
      if (operand < kernel_.getStrides().size() && kernel_.getOffsetOf(operand) > 0) {
        bases_.back() = at(bases_.back(), operand, i64(kernel_.getOffsetOf(operand)));
      }
    }
    if (loops_.sums > 0) {
      partials_ = bases_.pop_back_val();
    }
    return entry;
  }

  void addRandom(cell::RandomOp op, Value numbers) {
    // Whole groups of blocks, and what lies before the first element in its block.
    Value words = i64(drawnAtOnce() + 2 * kGroup);
    Random random{op, b.create<LLVM::AllocaOp>(loc, pointer(), b.getI32Type(), words, 64), {}, {}, {}};
    int32_t at = int32_t(3 * randoms_.size());
    for (Value *number : {&random.key, &random.event, &random.first}) {
      Value slot = b.create<LLVM::GEPOp>(loc, pointer(), b.getI64Type(), numbers, ArrayRef<LLVM::GEPArg>{at++});
      *number = b.create<LLVM::LoadOp>(loc, b.getI64Type(), slot);
    }
    randoms_.push_back(random);
  }

  template <typename Body> void each(Value begin, Value end, const Body &body) {
    auto loop = b.create<scf::ForOp>(loc, begin, end, i64(1));
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  // Costly values that more than one pass needs.
  void findKept() {
    llvm::DenseMap<Operation *, int> first;
    for (int pass = 0; pass <= work_.count(); ++pass) {
      for (Operation *op : work_.neededIn(pass)) {
        if (isCostly(op) && !first.try_emplace(op, pass).second) {
          kept_.insert(op);
        }
      }
    }
  }

  // ---- loops --------------------------------------------------------------
  // A row, or a block of rows.
  void emitUnit(Value unit) {
    if (loops_.sums == 0) {
      return emitRow(unit);
    }
    Value first = b.create<arith::MulIOp>(loc, unit, i64(loops_.partials()));
    partial_ = b.create<LLVM::GEPOp>(loc, pointer(), b.getF32Type(), partials_, ValueRange{first});
    auto zeros = b.create<scf::ForOp>(loc, i64(0), i64(loops_.partials()), i64(kLanes));
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(zeros.getBody());
      Value at = b.create<LLVM::GEPOp>(loc, pointer(), b.getF32Type(), partial_, ValueRange{zeros.getInductionVar()});
      b.create<LLVM::StoreOp>(loc, splat(b.getF32FloatAttr(0)), at, 64);
    }
    auto rowOf = [&](Value block) -> Value {
      return b.create<arith::DivUIOp>(loc, b.create<arith::MulIOp>(loc, block, i64(loops_.rows())),
                                      i64(loops_.units()));
    };
    each(rowOf(unit), rowOf(b.create<arith::AddIOp>(loc, unit, i64(1))), [&](Value row) { emitRow(row); });
  }

  // Adds a group of places of the row to the unit's sums.
  void addToSums() {
    int64_t sum = 0;
    for (Value value : kernel_.getYielded()) {
      if (cell::SumRowsOp op = cell::sumRowsOf(value)) {
        Value place = b.create<arith::AddIOp>(loc, place_, i64(sum++ * loops_.groups() * kLanes));
        Value at = b.create<LLVM::GEPOp>(loc, pointer(), b.getF32Type(), partial_, ValueRange{place});
        Value before = b.create<LLVM::LoadOp>(loc, VectorType::get(kLanes, b.getF32Type()), at, 64);
        b.create<LLVM::StoreOp>(loc, b.create<arith::AddFOp>(loc, before, valueOf(op.getValue())), at, 64);
      }
    }
  }

  // One group of the sums of all units, in their order.
  void emitSums(Value group, Value mask) {
    Value place = b.create<arith::MulIOp>(loc, group, i64(kLanes));
    int64_t sum = 0;
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      cell::SumRowsOp op = cell::sumRowsOf(value);
      if (!op) {
        continue;
      }
      Value first = b.create<arith::AddIOp>(loc, place, i64(sum++ * loops_.groups() * kLanes));
      auto loop =
          b.create<scf::ForOp>(loc, i64(0), i64(loops_.units()), i64(1), ValueRange{splat(b.getF32FloatAttr(0))});
      {
        OpBuilder::InsertionGuard inside(b);
        b.setInsertionPointToStart(loop.getBody());
        Value unit = b.create<arith::MulIOp>(loc, loop.getInductionVar(), i64(loops_.partials()));
        Value at = b.create<LLVM::GEPOp>(loc, pointer(), b.getF32Type(), partials_,
                                         ValueRange{b.create<arith::AddIOp>(loc, first, unit)});
        Value term = b.create<LLVM::LoadOp>(loc, VectorType::get(kLanes, b.getF32Type()), at, 64);
        b.create<scf::YieldOp>(loc, ValueRange{b.create<arith::AddFOp>(loc, loop.getRegionIterArgs()[0], term)});
      }
      Value made = loop.getResult(0);
      if (value != op.getResult()) {
        made = computed(value.getDefiningOp(), {made}, true);
      }
      unsigned operand = kernel_.getNumInputs() + unsigned(index);
      store(made, operand, at(bases_[operand], operand, place), mask);
    }
  }

  // One row of `extent` places that is cut anywhere.
  void emitFlat(Value begin, Value end, Value extent) {
    places_ = bases_;
    emitRowValues();
    Value lanes = i64(kLanes);
    Value wholePlaces = b.create<arith::AndIOp>(loc, extent, i64(-kLanes));
    Value from = b.create<arith::MulIOp>(loc, begin, lanes);
    Value last = b.create<arith::MulIOp>(loc, end, lanes);
    Value to = b.create<arith::MinSIOp>(loc, last, wholePlaces);
    auto loop = b.create<scf::ForOp>(loc, from, to, lanes);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(loop.getBody());
      emitStores(loop.getInductionVar(), Value());
    }
    Value isLast = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, last, extent);
    Value hasTail = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, wholePlaces, extent);
    auto tail = b.create<scf::IfOp>(loc, b.create<arith::AndIOp>(loc, isLast, hasTail), false);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(tail.thenBlock());
      emitStores(wholePlaces, firstLanes(b.create<arith::SubIOp>(loc, extent, wholePlaces)));
    }
    emitRowStores();
  }

  // Which of the lanes are among the first `count`.
  Value firstLanes(Value count) {
    SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(0, kLanes));
    auto wide = VectorType::get(kLanes, b.getI64Type());
    Value numbers = b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(wide, ArrayRef(lanes)));
    Value counts = b.create<vector::BroadcastOp>(loc, wide, count);
    return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, numbers, counts);
  }

  void emitRow(Value row) {
    places_.clear();
    SmallVector<Value> indices(loops_.outer.size());
    for (size_t dim = loops_.outer.size(); dim-- > 0;) {
      Value extent = i64(loops_.outer[dim].extent);
      indices[dim] = dim == 0 ? row : b.create<arith::RemUIOp>(loc, row, extent);
      row = dim == 0 ? row : b.create<arith::DivUIOp>(loc, row, extent);
    }
    for (unsigned operand = 0; operand < bases_.size(); ++operand) {
      Value offset = i64(0);
      for (auto [dim, index] : llvm::zip(loops_.outer, indices)) {
        offset = b.create<arith::AddIOp>(loc, offset, b.create<arith::MulIOp>(loc, index, i64(dim.strides[operand])));
      }
      places_.push_back(at(bases_[operand], operand, offset));
    }
    for (size_t slot = 0; slot < randoms_.size(); ++slot) {
      Value first = randoms_[slot].first;
      for (auto [dim, index] : llvm::zip(loops_.outer, indices)) {
        first = b.create<arith::AddIOp>(loc, first,
                                        b.create<arith::MulIOp>(loc, index, i64(dim.strides[bases_.size() + slot])));
      }
      randoms_[slot].ofRow = first;
    }
    if (drawnAtOnce() == loops_.row.extent) {
      draw(i64(0), drawnAtOnce());
    }
    values_.clear();
    for (int pass = 0; pass < work_.count(); ++pass) {
      emitRowValues();
      emitReductions(pass);
    }
    emitRowValues();
    if (drawnAtOnce() < loops_.row.extent) {
      emitPlacesByDraws();
    } else {
      emitPlaces(i64(0), i64(wholePlaces()));
    }
    if (wholePlaces() < loops_.row.extent) {
      emitStores(i64(wholePlaces()), tailMask());
    }
    emitRowStores();
  }

  // Whole groups.
  void emitPlaces(Value begin, Value end) {
    auto loop = b.create<scf::ForOp>(loc, begin, end, i64(kLanes));
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(loop.getBody());
    emitStores(loop.getInductionVar(), Value());
  }

  // All whole groups of a row whose words are drawn in parts, and the words of what is behind them.
  void emitPlacesByDraws() {
    auto loop = b.create<scf::ForOp>(loc, i64(0), i64(wholePlaces()), i64(drawnAtOnce()));
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(loop.getBody());
      Value begin = loop.getInductionVar();
      draw(begin, drawnAtOnce());
      Value end = b.create<arith::AddIOp>(loc, begin, i64(drawnAtOnce()));
      emitPlaces(begin, b.create<arith::MinSIOp>(loc, end, i64(wholePlaces())));
    }
    draw(i64(wholePlaces()), loops_.row.extent - wholePlaces());
  }

  void emitReductions(int pass) {
    pass_ = pass;
    SmallVector<cell::ReduceOp> reduces = work_.reducesOf(pass);
    SmallVector<Value> neutral;
    for (cell::ReduceOp reduce : reduces) {
      neutral.push_back(splat(b.getF32FloatAttr(neutralOf(reduce))));
    }
    auto loop = b.create<scf::ForOp>(loc, i64(0), i64(wholePlaces()), i64(kLanes), neutral);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(loop.getBody());
      begin(loop.getInductionVar(), Value());
      b.create<scf::YieldOp>(loc, reducedWith(reduces, loop.getRegionIterArgs(), Value()));
    }
    SmallVector<Value> sums(loop.getResults());
    if (wholePlaces() < loops_.row.extent) {
      Value mask = tailMask();
      begin(i64(wholePlaces()), mask);
      sums = reducedWith(reduces, sums, mask);
    }
    for (auto [reduce, lanes] : llvm::zip(reduces, sums)) {
      values_[reduce.getResult()] = acrossLanes(reduce, lanes);
    }
  }

  // In pairs: lane i with lane i + 8, then + 4, + 2, + 1.
  Value acrossLanes(cell::ReduceOp reduce, Value lanes) {
    for (int64_t half = kLanes / 2; half >= 1; half /= 2) {
      auto low = llvm::to_vector(llvm::seq<int64_t>(0, half)),
           high = llvm::to_vector(llvm::seq<int64_t>(half, 2 * half));
      Value a = b.create<vector::ShuffleOp>(loc, lanes, lanes, low);
      Value rest = b.create<vector::ShuffleOp>(loc, lanes, lanes, high);
      lanes = combined(reduce, a, rest);
    }
    return b.create<vector::ExtractOp>(loc, lanes, ArrayRef<int64_t>{0});
  }

  // ---- random bits --------------------------------------------------------
  // Words of Philox4x32-10 (ops/abi/philox.h): four for each block of elements, kLanes blocks at once.
  static constexpr int64_t kGroup = 4 * kLanes;
  static constexpr int64_t kDrawnAtOnce = kKeptRow / 4;

  struct Random {
    cell::RandomOp op;
    Value row; // addresses: of the words, and of that of the row's first place
    Value key, event, first;
    Value ofRow = {}, place = {}; // the row's first element
  };

  // Places of a row whose words are kept: all, where several passes go over it.
  int64_t drawnAtOnce() const {
    return loops_.randoms == 0 || loops_.reduces ? loops_.row.extent : std::min(loops_.row.extent, kDrawnAtOnce);
  }

  // Keeps the words of `count` places of the row, from `begin` on.
  void draw(Value begin, int64_t count) {
    for (Random &random : randoms_) {
      Value first = b.create<arith::AddIOp>(loc, random.ofRow, begin);
      Value block = b.create<arith::ShRUIOp>(loc, first, i64(2)), before = b.create<arith::AndIOp>(loc, first, i64(3));
      Value word = b.create<arith::SubIOp>(loc, before, begin);
      random.place = b.create<LLVM::GEPOp>(loc, random.row.getType(), b.getI32Type(), random.row, ValueRange{word});
      auto groups = b.create<scf::ForOp>(loc, i64(0), i64(count + 3), i64(kGroup));
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(groups.getBody());
      Value from = groups.getInductionVar();
      Value to = b.create<LLVM::GEPOp>(loc, random.row.getType(), b.getI32Type(), random.row, ValueRange{from});
      Value number = b.create<arith::AddIOp>(loc, block, b.create<arith::ShRUIOp>(loc, from, i64(2)));
      b.create<LLVM::StoreOp>(loc, blocksFrom(number, random), to, 64);
    }
  }

  Value blocksFrom(Value number, Random &random) {
    auto wide = VectorType::get(kLanes, b.getI64Type());
    SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(0, kLanes));
    Value steps = b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(wide, ArrayRef(lanes)));
    Value counters = b.create<arith::AddIOp>(loc, b.create<vector::BroadcastOp>(loc, wide, number), steps);
    auto [c0, c1] = halves(counters);
    auto [c2, c3] = halves(b.create<vector::BroadcastOp>(loc, wide, random.event));
    auto [k0, k1] = halves(b.create<vector::BroadcastOp>(loc, wide, random.key));
    auto constant = [&](uint32_t value) { return splat(b.getI32IntegerAttr(int32_t(value))); };
    for (int round = 0; round < 10; ++round) {
      auto p0 = b.create<arith::MulUIExtendedOp>(loc, constant(0xD2511F53u), c0);
      auto p1 = b.create<arith::MulUIExtendedOp>(loc, constant(0xCD9E8D57u), c2);
      auto mixed = [&](Value high, Value counter, Value key) -> Value {
        return b.create<arith::XOrIOp>(loc, b.create<arith::XOrIOp>(loc, high, counter), key);
      };
      c0 = mixed(p1.getHigh(), c1, k0);
      c2 = mixed(p0.getHigh(), c3, k1);
      c1 = p1.getLow();
      c3 = p0.getLow();
      k0 = b.create<arith::AddIOp>(loc, k0, constant(0x9E3779B9u));
      k1 = b.create<arith::AddIOp>(loc, k1, constant(0xBB67AE85u));
    }
    // c0, c1, c2 and c3 of one block after another.
    return interleaved(interleaved(c0, c2), interleaved(c1, c3));
  }

  Value interleaved(Value a, Value other) {
    const int64_t size = llvm::cast<VectorType>(a.getType()).getNumElements();
    SmallVector<int64_t> lanes;
    for (int64_t lane = 0; lane < size; ++lane) {
      lanes.append({lane, size + lane});
    }
    return b.create<vector::ShuffleOp>(loc, a, other, lanes);
  }

  // The lower and the upper 32 bits.
  std::pair<Value, Value> halves(Value wide) {
    auto narrow = VectorType::get(kLanes, b.getI32Type());
    Value shift = b.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(llvm::cast<VectorType>(wide.getType()), b.getI64IntegerAttr(32).getValue()));
    Value upper = b.create<arith::ShRUIOp>(loc, wide, shift);
    return {b.create<arith::TruncIOp>(loc, narrow, wide), b.create<arith::TruncIOp>(loc, narrow, upper)};
  }

  Value drawn(cell::RandomOp op) {
    for (Random &random : randoms_) {
      if (random.op == op) {
        Value at = b.create<LLVM::GEPOp>(loc, random.place.getType(), b.getI32Type(), random.place, ValueRange{place_});
        return b.create<LLVM::LoadOp>(loc, VectorType::get(kLanes, b.getI32Type()), at, 4);
      }
    }
    llvm_unreachable("each has its words");
  }

  // ---- values -------------------------------------------------------------
  // Vectors are of kLanes places from `place` on, of which `mask`, if there is one, says which are any.
  void begin(Value place, Value mask) {
    vectors_.clear();
    place_ = place;
    mask_ = mask;
  }

  Value rowAddressOf(unsigned operand) override { return places_[operand]; }

  void emitStores(Value place, Value mask) {
    pass_ = work_.count();
    begin(place, mask);
    // All are read before the first is written, as an output may lie over an input.
    SmallVector<std::pair<unsigned, Value>> stores;
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      unsigned operand = kernel_.getNumInputs() + unsigned(index);
      if (!work_.isOfRow(operand) && !cell::sumRowsOf(value)) {
        stores.push_back({operand, valueOf(value)});
      }
    }
    addToSums();
    for (auto [operand, value] : stores) {
      store(value, operand, at(places_[operand], operand, place_), mask);
    }
  }

  void store(Value value, unsigned operand, Value address, Value mask) {
    if (mask) {
      b.create<LLVM::MaskedStoreOp>(loc, value, address, mask, alignOf(operand));
    } else {
      b.create<LLVM::StoreOp>(loc, value, address, alignOf(operand));
    }
  }

  void emitRowStores() {
    for (auto [index, value] : llvm::enumerate(kernel_.getYielded())) {
      unsigned operand = kernel_.getNumInputs() + unsigned(index);
      if (work_.isOfRow(operand)) {
        b.create<LLVM::StoreOp>(loc, values_[value], places_[operand], alignOf(operand));
      }
    }
  }

  Value valueOf(Value value) override {
    if (work_.isOfRow(value)) {
      return b.create<vector::BroadcastOp>(loc, VectorType::get(kLanes, values_[value].getType()), values_[value]);
    }
    if (Value known = vectors_.lookup(value)) {
      return known;
    }
    Value made;
    if (auto argument = llvm::dyn_cast<BlockArgument>(value)) {
      unsigned operand = argument.getArgNumber();
      Type stored = storedType(argument.getType());
      if (kernel_.getBatch() && !mask_) {
        Value ahead = b.create<arith::AddIOp>(loc, place_, i64(kAhead * 8 / stored.getIntOrFloatBitWidth()));
        b.create<LLVM::Prefetch>(loc, at(places_[operand], operand, ahead), 0, 3, 1);
      }
      made = load(stored, at(places_[operand], operand, place_), alignOf(operand));
    } else {
      made = computedOrKept(value.getDefiningOp());
    }
    return vectors_[value] = made;
  }

  // Kept by the first pass that needs it.
  Value computedOrKept(Operation *op) {
    if (auto random = llvm::dyn_cast<cell::RandomOp>(op)) {
      return drawn(random);
    }
    Value slot = scratch_.lookup(op);
    Value address =
        slot ? b.create<LLVM::GEPOp>(loc, slot.getType(), b.getF32Type(), slot, ValueRange{place_}) : Value();
    auto [keeper, isFirst] = keptIn_.try_emplace(op, pass_);
    if (slot && keeper->second < pass_) {
      return b.create<LLVM::LoadOp>(loc, VectorType::get(kLanes, b.getF32Type()), address, 64);
    }
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value v) { return valueOf(v); });
    Value made = computed(op, operands, true);
    if (slot) {
      b.create<LLVM::StoreOp>(loc, made, address, 64);
    }
    return made;
  }

  Value load(Type element, Value address, unsigned align) {
    auto type = VectorType::get(kLanes, element);
    if (!mask_) {
      return b.create<LLVM::LoadOp>(loc, type, address, align);
    }
    Value zeros = b.create<arith::ConstantOp>(loc, b.getZeroAttr(type));
    return b.create<LLVM::MaskedLoadOp>(loc, type, address, mask_, zeros, align);
  }

  // As bits: no instruction of AVX2 knows bfloat16, the upper half of a float32.
  Value narrowed(Value number, Type integers, Type halves) override {
    Value bits = b.create<arith::BitcastOp>(loc, integers, number);
    Value upper = b.create<arith::ShRUIOp>(loc, bits, whole(integers, 16));
    Value odd = b.create<arith::AndIOp>(loc, upper, whole(integers, 1));
    Value rounding = b.create<arith::AddIOp>(loc, odd, whole(integers, 0x7fff));
    Value rounded = b.create<arith::ShRUIOp>(loc, b.create<arith::AddIOp>(loc, bits, rounding), whole(integers, 16));
    Value quiet = b.create<arith::OrIOp>(loc, upper, whole(integers, 0x40));
    Value isNone = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UNO, number, number);
    return b.create<arith::TruncIOp>(loc, halves, b.create<arith::SelectOp>(loc, isNone, quiet, rounded));
  }

  // ---- places -------------------------------------------------------------
  int64_t wholePlaces() const { return loops_.row.extent / kLanes * kLanes; }

  Value tailMask() {
    SmallVector<bool> lanes;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      lanes.push_back(wholePlaces() + lane < loops_.row.extent);
    }
    auto type = VectorType::get(kLanes, b.getI1Type());
    return b.create<arith::ConstantOp>(loc, DenseElementsAttr::get(type, lanes));
  }

  unsigned alignOf(unsigned operand) { return elementOf(operand).getIntOrFloatBitWidth() / 8; }

  llvm::SetVector<Operation *> kept_;
  Value partials_, partial_;          // sums over rows: of all units, of this one
  SmallVector<Value> bases_, places_; // addresses by operand: of tensors, and of the row in them
  SmallVector<Random> randoms_;
  llvm::DenseMap<Operation *, Value> scratch_;
  llvm::DenseMap<Operation *, int> keptIn_; // the pass
  llvm::DenseMap<Value, Value> vectors_;
  Value place_, mask_;
  int pass_ = 0;
};

} // namespace

void emitX86(OpBuilder &builder, cell::KernelOp kernel, const Loops &loops, StringRef symbol, StringRef sums,
             StringRef processor) {
  Emitter emitter(builder, kernel, loops);
  emitter.run(symbol, processor);
  if (loops.sums > 0) {
    emitter.runSums(sums, processor);
  }
}

} // namespace weft::compiler
