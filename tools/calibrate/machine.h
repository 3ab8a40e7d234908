// The machine that this process runs on, as a cluster file knows it.
#ifndef WEFT_TOOLS_CALIBRATE_MACHINE_H_
#define WEFT_TOOLS_CALIBRATE_MACHINE_H_

#include <cstdint>
#include <string>

namespace weft::calibrate {

// "AMD EPYC 7B13 64-Core Processor"; "unknown" where the system does not say.
std::string ProcessorName();

// Cores that this process may use; 1 or more.
int CoreCount();

// Memory of the machine in bytes; 0 where the system does not say.
int64_t MemoryBytes();

// Today, "2026-11-23", in UTC.
std::string Today();

}  // namespace weft::calibrate

#endif  // WEFT_TOOLS_CALIBRATE_MACHINE_H_
