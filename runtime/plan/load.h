// Plans on disk: a head of 32 bytes (magic, then version, length and hash of the
// payload as little-endian 64-bit words), then the plan as deterministic
// protobuf. A damaged file is found before it is parsed.
//
// Free functions without state; any thread. Errors name the file.
#ifndef WEFT_RUNTIME_PLAN_LOAD_H_
#define WEFT_RUNTIME_PLAN_LOAD_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/plan/plan.pb.h"

namespace weft::plan {

// The schema that this library reads and writes. It goes up whenever plan.proto,
// or a message that it holds, changes: a reader that does not know a field would
// pass over it and run another program than the one that was proved, and a
// field's absence says nothing of what an older writer meant. So plans of other
// versions, older or newer, are refused; a job compiles again in seconds.
// Checkpoints do not depend on it.
//
// 1: the first schema. 2: chunks and phases of actors, bundles of collectives,
// offsets of runs, slot offsets, costs, clusters and what became of recompute.
// 3: the job's residual connections and fusion. 4: a STEP actor reads by a view
// what has several slots; the products of kernels, and calibrations. 5: buffers
// that are padded; images that vary; parts of kernels; far rates. 6: generated
// kernels, with their code; products that add to a sum; rules, schedules and
// groups of the job's optimizer, and what it freezes. 7: kernels for several
// tensors at once; evaluations; caches of functions that go on with sequences.
// 8: shifts; the job's ring; losses in parts. 9: tiers below the device. 10: runs
// that do several micro-batches at a time. 11: zigzags. 12: updates on the host.
// 13: layers of which what they keep lies below the device. 14: narrow copies that
// are kept, and parameters that are narrower than in files.
inline constexpr int32_t kPlanVersion = 14;

// The first eight bytes of every plan file.
inline constexpr char kPlanMagic[] = "WEFTPLAN";

// The plan's identity, header.hash: a 64-bit hash of its deterministic
// serialisation with that field cleared. The bytes are cut in little-endian
// words of eight (the last one padded with zeros), h <- mix((h xor word) * odd),
// where mix(x) = x xor (x >> 32), odd = 2^64 / phi and h starts as the length.
// It finds accidents, not attackers. The plan is unchanged afterwards.
uint64_t HashOf(Plan& plan);

// Reads a plan. The result is parsed, of this version and undamaged; it is not
// validated (validate.h). kNotFound: no such file; kInvalidArgument: not a
// plan, of another version, truncated or damaged.
absl::StatusOr<Plan> Load(const std::string& path);

// Likewise into `plan`, which may live in an arena: parsing a large plan into
// an arena takes half the time. After an error its contents are unspecified.
absl::Status LoadInto(const std::string& path, Plan& plan);

// Reads the plan at the beginning of `bytes`, which a program carries, and takes it off them. kInvalidArgument as
// Load().
absl::StatusOr<Plan> ParseFirst(absl::string_view* bytes);

// Stamps version and hash, and writes the plan as ReplaceFile() does.
absl::Status Save(Plan plan, const std::string& path);

// Writes the bytes beside `path` and renames that over `path`. After an error
// `path` is as it was, and nothing is left beside it. kInvalidArgument if there
// is something at `path` that is no file.
absl::Status ReplaceFile(const std::string& path, absl::string_view bytes);

// Whether ReplaceFile() can write there, for what works for minutes before it does. Leaves `path` as it is.
absl::Status CanReplaceFile(const std::string& path);

}  // namespace weft::plan

#endif  // WEFT_RUNTIME_PLAN_LOAD_H_
