// Hands an error on to the caller of a function that returns absl::Status or absl::StatusOr.
//
//   WEFT_RETURN_IF_ERROR(CheckSizes(problem));
//   WEFT_ASSIGN_OR_RETURN(const Extents extents, MatchSpec(spec, ".->."));
#ifndef WEFT_OPS_ABI_STATUS_MACROS_H_
#define WEFT_OPS_ABI_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#define WEFT_RETURN_IF_ERROR(...) \
  if (absl::Status weft_status = (__VA_ARGS__); !weft_status.ok()) return weft_status

// Several statements: not for the body of an `if` without braces.
#define WEFT_ASSIGN_OR_RETURN(variable, ...) \
  WEFT_ASSIGN_OR_RETURN_BY(WEFT_JOINED(weft_result_, __LINE__), variable, __VA_ARGS__)
#define WEFT_ASSIGN_OR_RETURN_BY(result, variable, ...) \
  auto result = (__VA_ARGS__);                          \
  if (!result.ok()) return std::move(result).status();  \
  variable = *std::move(result)
#define WEFT_JOINED(a, b) WEFT_JOIN(a, b)
#define WEFT_JOIN(a, b) a##b

#endif  // WEFT_OPS_ABI_STATUS_MACROS_H_
