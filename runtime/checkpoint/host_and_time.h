// Where and when a process runs, as files tell it.
#ifndef WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_
#define WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_

#include <string>

namespace weft::checkpoint {

// This host's name, without blanks; "unknown" if it has none.
std::string HostName();

// Now, as "2026-11-22T20:15:00Z".
std::string TimeText();

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_
