// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "repository/storage/object_store.h"

namespace nereid::repository::storage {

/// The largest response to a request for one page of a list, in bytes.
inline constexpr size_t kMaxListBytes = size_t{16} << 20;
/// The largest number of entries of a page. The stores send at most 1000 or, Azure, 5000.
inline constexpr size_t kMaxPageEntries = 10'000;
/// The number of entries that is asked for.
inline constexpr int kPageEntries = 1000;

/// Returns whether a key can be the path of a file below a directory: no component is empty, "." or
/// "..", and there are no control characters. A '/' at the end is permitted: stores mark empty
/// directories with empty objects of that name.
bool IsFileKey(std::string_view key);

/// Checks a page that a store has sent as the answer to a request for `prefix` and `page`, removes
/// the keys that are not IsFileKey, and returns INTERNAL if the page is not an answer to that:
/// other prefixes, too many entries, the same page again, an object without a version.
base::Status CheckPage(const std::string& prefix, const std::string& page, ObjectPage* result);

}  // namespace nereid::repository::storage
