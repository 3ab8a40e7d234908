// RUN: not weft-opt %s --weft-schedule-units="schedule=2f2b" 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not weft-opt %s --weft-schedule-units="chunks=2" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not weft-opt %s --weft-schedule-units="schedule=interleaved chunks=1" 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not weft-opt %s --weft-schedule-units="schedule=zero-bubble-v chunks=3" 2>&1 | FileCheck %s --check-prefix=V
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/none.txt" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files" 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/word.txt" 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/lines.txt" 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/more_lines.txt" 2>&1 | FileCheck %s --check-prefix=MORE
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/twice.txt" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/missing.txt" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/micro_batch.txt" 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/chunk.txt" 2>&1 | FileCheck %s --check-prefix=CHUNK
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/order.txt" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/before.txt" 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/blocks.txt" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// RUN: not weft-opt %s --weft-schedule-units="file=%S/files/split.txt" 2>&1 | FileCheck %s --check-prefix=SPLIT

// What a schedule cannot be, each with the line and column of a file that says so. Stages that wait for each other are all
// named.
// KIND: error: schedule: expected gpipe, 1f1b, interleaved, zero-bubble-h1 or zero-bubble-v, got 2f2b{{$}}
// CHUNKS: error: pipeline.chunks of ONE_F_ONE_B: expected 1, got 2{{$}}
// LOOP: error: pipeline.chunks of INTERLEAVED: expected 2 or more, got 1{{$}}
// V: error: pipeline.chunks of ZERO_BUBBLE form V: expected 2, got 3{{$}}
// NONE: error: pipeline.schedule_file: {{.*}}files/none.txt: expected a schedule file, found none{{$}}
// FOLDER: error: pipeline.schedule_file: {{.*}}files: expected a schedule file, found none{{$}}
// WORD: error: {{.*}}files/word.txt:2:8: expected F, B or W with a micro-batch, such as B3, or B3.1 of the second chunk, got G1{{$}}
// LINES: error: {{.*}}files/lines.txt: expected 2 lines, one a stage, got 1{{$}}
// MORE: error: {{.*}}files/more_lines.txt:4:1: expected 2 lines, one a stage, got another{{$}}
// TWICE: error: {{.*}}files/twice.txt:2:10: stage 1: expected every unit once, got F1 again{{$}}
// MISSING: error: {{.*}}files/missing.txt:2:9: stage 1: expected B1, got the end{{$}}
// BATCH: error: {{.*}}files/micro_batch.txt:2:13: stage 1: expected a micro-batch below 2, got F2{{$}}
// CHUNK: error: {{.*}}files/chunk.txt:2:10: stage 1: expected a chunk below 1, got B1.1{{$}}
// ORDER: error: {{.*}}files/order.txt:2:1: stage 1: expected F0 first, got F1{{$}}
// BEFORE: error: {{.*}}files/before.txt:2:1: stage 1: expected F0 first, got B0{{$}}
// BLOCKS: error: {{.*}}files/blocks.txt:1:4: stage 0: expected a unit that can run, got B0, which waits for B0 of stage 1; stage 1 waits at F1 for F1 of stage 0{{$}}
// SPLIT: error: {{.*}}files/split.txt:2:12: stage 1: expected W0, got the end{{$}}

task.program @stage0 on #weft.placement<"cpu", [], [0]> micro_batches(2) {
}
task.program @stage1 on #weft.placement<"cpu", [], [1]> micro_batches(2) {
}
