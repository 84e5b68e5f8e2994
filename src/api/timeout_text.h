// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::api {

/// The nanoseconds of a grpc-timeout value ("100m": 1 to 8 digits and a unit out of H, M, S, m, u
/// and n); nothing when it is malformed. UINT64_MAX for what does not fit.
std::optional<uint64_t> ParseGrpcTimeout(std::string_view text);

/// The nanoseconds of a whole number of milliseconds, as Envoy writes timeouts ("15000"); nothing
/// when it is malformed. UINT64_MAX for what does not fit.
std::optional<uint64_t> ParseMilliseconds(std::string_view text);

/// The monotonic time `timeout_ns` after `now_ns`; 0, which stands for no deadline, when that is
/// more than a year ahead.
uint64_t DeadlineAfter(uint64_t now_ns, uint64_t timeout_ns);

}  // namespace nereid::api
