// What goes before the data: who does what, so that members that disagree find
// out instead of taking one tensor for another.
#ifndef WEFT_RUNTIME_COLLECTIVE_MPI_HELLO_H_
#define WEFT_RUNTIME_COLLECTIVE_MPI_HELLO_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace weft::collective {

// The same on every rank and in every run: FNV-1a of 64 bits.
inline uint64_t Fingerprint(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

// The first message of an operation, to every other member.
struct Hello {
  uint64_t number = 0;  // of the operation on its channel, from 1
  uint64_t group = 0;   // fingerprints
  uint64_t work = 0;
  char text[488] = "";  // what work it is, for messages

  void Describe(const std::string& description) {
    work = Fingerprint(description);
    const size_t length = std::min(description.size(), sizeof(text) - 1);
    std::memcpy(text, description.data(), length);
    if (length < description.size()) std::memcpy(text + length - 3, "...", 3);
  }
  bool Agrees(const Hello& other) const { return number == other.number && group == other.group && work == other.work; }
};
static_assert(sizeof(Hello) == 512);

}  // namespace weft::collective

#endif  // WEFT_RUNTIME_COLLECTIVE_MPI_HELLO_H_
