// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_context.h"

namespace nereid::repository::storage {

/// An entry of the file that TRITON_CLOUD_CREDENTIAL_PATH names.
struct CloudCredentialEntry {
  /// Its members that are strings. An entry that is a string itself is the member "path".
  std::map<std::string, std::string> fields = {};
  std::string source = {};  // for messages

  std::string field(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  }
};

/// What the file says about a repository.
struct CloudCredentials {
  bool is_used = false;  // the variable is set: other variables with credentials are not used
  std::optional<CloudCredentialEntry> entry = std::nullopt;
};

/// Reads the file and chooses the entry for a repository: a JSON object with the members "s3", "gs"
/// and "as", each an object that maps beginnings of URLs to credentials. The longest beginning
/// wins;
/// "" fits every URL. INVALID_ARG, without a part of the content, if the file cannot be read, is
/// not that, or has entries for this kind of store but none that fits.
base::Result<CloudCredentials> ReadCloudCredentials(const StoreContext& context, StoreKind kind,
                                                    const std::string& url);

}  // namespace nereid::repository::storage
