// SPDX-License-Identifier: Apache-2.0
// The choice of a version for a request without one. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "request/request_fields.h"
#include "rollout/rollout_plan.h"

namespace nereid::rollout {

/// Returns a number that depends on `bytes` alone, so that all servers with one plan agree. Each
/// bit of it depends on each byte.
uint64_t HashKey(std::string_view bytes);

/// Returns the number that decides for a request: the hash of its key, or `random` if the split is
/// by request or the request lacks the key.
uint64_t PointOf(const Split& split, const request::RequestFields& request, uint64_t random);

/// A weight of a split, and whether its version can serve requests at this moment.
struct Candidate {
  uint32_t parts = 0;
  bool usable = false;
};

/// Returns the index of the candidate for `point`. A candidate that is not usable gives its share
/// to the usable ones in proportion to their parts; the points of the others keep their candidate.
/// Returns nothing if no usable candidate has parts. The parts of all candidates are kParts.
std::optional<size_t> Choose(std::span<const Candidate> candidates, uint64_t point);

/// Returns a random number. Any thread may call it; it takes a few nanoseconds.
uint64_t RandomPoint();

}  // namespace nereid::rollout
