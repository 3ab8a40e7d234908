// A file may declare the batch, for use without a job.
// RUN: weft-opt %s --weft-elaborate-config | FileCheck %s --check-prefix=FILE
// RUN: weft-opt %s --weft-elaborate-config="batch=4" | FileCheck %s --check-prefix=JOB
// FILE: model.config @batch = 2
// JOB: model.config @batch = 4
model.config @batch = 2
