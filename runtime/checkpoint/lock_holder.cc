#include "runtime/checkpoint/lock_holder.h"

#include <fstream>
#include <sstream>

namespace weft::checkpoint {

std::string LockPathIn(const std::string& folder) { return folder + "/.lock"; }

LockHolder LockHolderIn(const std::string& text) {
  LockHolder holder;
  std::istringstream(text) >> holder.host >> holder.process >> holder.since;
  return holder;
}

std::optional<LockHolder> LockHolderOf(const std::string& folder) {
  std::ifstream in(LockPathIn(folder));
  if (!in) return std::nullopt;
  std::string line;
  std::getline(in, line);
  return LockHolderIn(line);
}

}  // namespace weft::checkpoint
