// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::api {

/// Returns the nanoseconds of a grpc-timeout header ("100m": 1 to 8 digits and a unit out of H, M,
/// S, m, u and n), or nothing if it is malformed. Returns UINT64_MAX if the value exceeds 64 bits.
std::optional<uint64_t> ParseGrpcTimeout(std::string_view text);

/// Returns the nanoseconds of a whole number of milliseconds ("15000"), the form of Envoy's timeout
/// headers, or nothing if it is malformed. Returns UINT64_MAX if the value exceeds 64 bits.
std::optional<uint64_t> ParseMilliseconds(std::string_view text);

/// Returns the monotonic time `timeout_ns` after `now_ns`, or 0, no deadline, for a timeout of more
/// than a year.
uint64_t DeadlineAfter(uint64_t now_ns, uint64_t timeout_ns);

}  // namespace nereid::api
