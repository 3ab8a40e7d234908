// --weft-schedule-units: the order of the units of every stage.
#include "compiler/passes/schedule/passes.h"
#include "compiler/schedule/schedule.h"
#include "llvm/Support/FileSystem.h"
#include "runtime/plan/read_file.h"

namespace weft::compiler {
#define GEN_PASS_DEF_SCHEDULEUNITS
#include "compiler/passes/schedule/Passes.h.inc"
namespace {

std::optional<schedule::Kind> kindOf(llvm::StringRef name) {
  constexpr std::pair<llvm::StringLiteral, schedule::Kind> kKinds[] = {
      {"gpipe", schedule::Kind::GPipe},
      {"1f1b", schedule::Kind::OneForwardOneBackward},
      {"interleaved", schedule::Kind::Interleaved},
      {"zero-bubble-h1", schedule::Kind::ZeroBubbleH1},
      {"zero-bubble-v", schedule::Kind::ZeroBubbleV},
  };
  for (auto [known, kind] : kKinds) {
    if (name == known) {
      return kind;
    }
  }
  return std::nullopt;
}

struct ScheduleUnits : impl::ScheduleUnitsBase<ScheduleUnits> {
  using ScheduleUnitsBase::ScheduleUnitsBase;

  void runOnOperation() override {
    auto programs = llvm::to_vector(getOperation().getOps<task::ProgramOp>());
    if (programs.empty()) {
      return;
    }
    const int microBatches = int(programs[0].getMicroBatches());
    const int together = int(std::clamp<int64_t>(overlap, 1, microBatches));
    absl::StatusOr<schedule::Schedule> made = make(int(programs.size()), (microBatches + together - 1) / together);
    if (!made.ok()) {
      mlir::emitError(programs[0].getLoc()) << std::string(made.status().message());
      return signalPassFailure();
    }
    mlir::Builder builder(&getContext());
    for (auto [program, units] : llvm::zip(programs, made->order)) {
      llvm::SmallVector<std::string> texts;
      for (schedule::Unit unit : units) {
        const int first = unit.microBatch * together;
        for (unit.microBatch = first; unit.microBatch < std::min(first + together, microBatches); ++unit.microBatch) {
          texts.push_back(schedule::print(unit));
        }
      }
      llvm::SmallVector<llvm::StringRef> views(texts.begin(), texts.end());
      program.setUnitsAttr(builder.getStrArrayAttr(views));
      program.setOverlap(together);
    }
  }

private:
  absl::StatusOr<schedule::Schedule> make(int stages, int microBatches) {
    if (!file.empty()) {
      const absl::StatusOr<std::string> text = plan::ReadText(file);
      if (absl::IsNotFound(text.status()) || llvm::sys::fs::is_directory(file)) {
        return absl::NotFoundError("pipeline.schedule_file: " + file + ": expected a schedule file, found none");
      }
      if (!text.ok()) {
        return absl::InvalidArgumentError("pipeline.schedule_file: " + std::string(text.status().message()));
      }
      schedule::ChunkMap map = chunks > 1 ? schedule::ChunkMap::Interleaved : schedule::ChunkMap::Plain;
      return schedule::parse(*text, file, {stages, int(chunks), microBatches, map});
    }
    std::optional<schedule::Kind> kind = kindOf(schedule);
    if (!kind) {
      return absl::InvalidArgumentError(
          "schedule: expected gpipe, 1f1b, interleaved, zero-bubble-h1 or zero-bubble-v, got " + schedule);
    }
    return schedule::make(*kind, stages, int(chunks), microBatches);
  }
};

} // namespace
} // namespace weft::compiler
