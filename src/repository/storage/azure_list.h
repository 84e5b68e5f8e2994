// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::storage {

/// Reads the response of Azure's List Blobs, an XML document. Directories of accounts with a
/// hierarchical namespace become keys with '/' at the end. INTERNAL if the document is not valid.
base::Result<ObjectPage> ParseAzureList(std::string_view body);

}  // namespace nereid::repository::storage
