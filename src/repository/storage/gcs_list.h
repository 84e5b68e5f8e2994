// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::storage {

/// Reads the response of Google Cloud Storage's objects.list, a JSON document. The checksum is the
/// MD5 or, for composed objects, the CRC32C. INTERNAL if the document is not valid.
base::Result<ObjectPage> ParseGcsList(std::string_view body);

}  // namespace nereid::repository::storage
