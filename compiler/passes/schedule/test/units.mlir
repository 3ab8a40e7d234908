// RUN: weft-opt %s --weft-schedule-units="schedule=gpipe" | FileCheck %s --check-prefix=GPIPE
// RUN: weft-opt %s --weft-schedule-units | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --weft-schedule-units="schedule=interleaved chunks=2" | FileCheck %s --check-prefix=LOOP
// RUN: weft-opt %s --weft-schedule-units="schedule=zero-bubble-h1" | FileCheck %s --check-prefix=H1
// RUN: weft-opt %s --weft-schedule-units="schedule=zero-bubble-v chunks=2" | FileCheck %s --check-prefix=V
// RUN: weft-opt %s --weft-schedule-units="overlap=2" | FileCheck %s --check-prefix=OVERLAP
// RUN: weft-opt %s --weft-schedule-units="file=%S/files/weights.txt" | FileCheck %s --check-prefix=FILE
// RUN: weft-opt %s --weft-schedule-units="file=%S/files/chunks.txt chunks=2" | FileCheck %s --check-prefix=CHUNKS

// Every forward, then every backward.
// GPIPE: task.program @stage0
// GPIPE-SAME: units ["F0", "F1", "F2", "B0", "B1", "B2"]
// GPIPE: task.program @stage1
// GPIPE-SAME: units ["F0", "F1", "F2", "B0", "B1", "B2"]

// At most 2 - i micro-batches under way on stage i; what is asked for by default.
// ONE: task.program @stage0
// ONE-SAME: units ["F0", "F1", "B0", "F2", "B1", "B2"]
// ONE: task.program @stage1
// ONE-SAME: units ["F0", "B0", "F1", "B1", "F2", "B2"]

// Two micro-batches, and the third alone, are one each to a schedule.
// OVERLAP: task.program @stage0
// OVERLAP-SAME: units ["F0", "F1", "F2", "B0", "B1", "B2"] overlap(2)
// OVERLAP: task.program @stage1
// OVERLAP-SAME: units ["F0", "F1", "B0", "B1", "F2", "B2"] overlap(2)

// Groups of two micro-batches go through both chunks; the third goes alone.
// LOOP: task.program @stage0
// LOOP-SAME: units ["F0", "F1", "F0.1", "F1.1", "F2", "B0.1", "B1.1", "F2.1", "B0", "B1", "B2.1", "B2"]
// LOOP: task.program @stage1
// LOOP-SAME: units ["F0", "F1", "F0.1", "B0.1", "F1.1", "B1.1", "F2", "B0", "F2.1", "B1", "B2.1", "B2"]

// As 1F1B, with W where neither F nor B can run.
// H1: task.program @stage0
// H1-SAME: units ["F0", "F1", "B0", "W0", "F2", "B1", "W1", "B2", "W2"]
// H1: task.program @stage1
// H1-SAME: units ["F0", "B0", "F1", "B1", "W0", "F2", "B2", "W1", "W2"]

// The second chunk of stage 1 follows its first at once.
// V: task.program @stage0
// V-SAME: units ["F0", "F1", "F2", "F0.1", "B0.1", "W0.1", "F1.1", "B0", "B1.1", "W0", "W1.1", "F2.1", "B2.1", "B1", "W1", "W2.1", "B2", "W2"]
// V: task.program @stage1
// V-SAME: units ["F0", "F0.1", "F1", "F1.1", "B0.1", "B0", "W0", "W0.1", "F2", "F2.1", "B1.1", "B1", "B2.1", "W1", "B2", "W1.1", "W2", "W2.1"]

// What a file says: comments, empty lines and the rest of its text aside.
// FILE: task.program @stage0
// FILE-SAME: units ["F0", "F1", "B0", "F2", "B1", "B2", "W0", "W1", "W2"]
// FILE: task.program @stage1
// FILE-SAME: units ["F0", "B0", "F1", "B1", "F2", "B2", "W0", "W1", "W2"]

// A file may speak of chunks; they go round.
// CHUNKS: task.program @stage0
// CHUNKS-SAME: units ["F0", "F1", "F0.1", "F1.1", "F2", "F2.1", "B0.1", "B1.1", "B2.1", "B0", "B1", "B2"]
// CHUNKS: task.program @stage1
// CHUNKS-SAME: units ["F0", "F1", "F0.1", "B0.1", "F1.1", "B1.1", "F2", "F2.1", "B2.1", "B0", "B1", "B2"]

task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(3) {
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(3) {
}
