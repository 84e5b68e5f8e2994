// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "api/health.h"
#include "base/result.h"

namespace nereid::codec::json {

// The documents about health, which only HTTP has. docs/user/health.md describes them.

/// Returns the document that says whether something is ready, and why not.
std::string EncodeReadiness(const api::Readiness& readiness);

/// Returns the document that says whether the server is live, and what was found.
std::string EncodeLiveness(const api::Liveness& liveness);

/// Returns the document about a drain.
std::string EncodeDrain(const api::DrainReport& report);

/// Reads the body of a request that changes the drain; an empty one begins a drain without an end.
/// Returns INVALID_ARGUMENT for an unknown member, because a drain whose end was misspelled would
/// not end.
base::Result<api::DrainChange> DecodeDrainChange(std::string_view json);

}  // namespace nereid::codec::json
