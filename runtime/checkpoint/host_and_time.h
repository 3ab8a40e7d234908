// Where and when a process runs, as files tell it.
#ifndef WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_
#define WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_

#include <string>

namespace weft::checkpoint {

// This host's name, without blanks; "unknown" if it has none.
std::string HostName();

// Whether two names are one host's, of which either may have its domain: node02 and node02.cluster.
bool IsSameHost(const std::string& a, const std::string& b);

// Now, as "2026-11-22T20:15:00Z".
std::string TimeText();

}  // namespace weft::checkpoint

#endif  // WEFT_RUNTIME_CHECKPOINT_HOST_AND_TIME_H_
