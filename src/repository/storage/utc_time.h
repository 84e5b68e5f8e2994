// SPDX-License-Identifier: Apache-2.0
// Texts of times in UTC. Times are milliseconds since the Unix epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::repository::storage {

/// Returns "20130524T000000Z", the form of AWS's signatures.
std::string BasicTimeText(uint64_t wall_ms);

/// Returns "Fri, 24 May 2013 00:00:00 GMT" (RFC 9110, section 5.6.7).
std::string HttpTimeText(uint64_t wall_ms);

/// Reads "2013-05-24T00:00:00Z", with or without a fraction of a second. Nothing if it is not that.
std::optional<uint64_t> ParseTime(std::string_view text);

}  // namespace nereid::repository::storage
