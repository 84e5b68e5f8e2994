// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/result.h"
#include "repository/storage/object_store.h"

namespace nereid::repository::storage {

/// Reads the response of S3's ListObjectsV2, an XML document. An ETag that has the form of an MD5
/// becomes the checksum: it is one unless the object is encrypted with keys of KMS or of the
/// client, which the list does not say. INTERNAL if the document is not valid.
base::Result<ObjectPage> ParseS3List(std::string_view body);

/// Returns an entity tag without its quotes.
std::string_view WithoutQuotes(std::string_view tag);

}  // namespace nereid::repository::storage
