// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "repository/storage/bearer_token.h"

namespace nereid::repository::storage {

/// Finds a token for a repository in Google Cloud Storage. The first that exists counts:
///
/// 1. the entry for `url` in the file of TRITON_CLOUD_CREDENTIAL_PATH, the path of a file as in 2;
///    with the file, 2 is not used
/// 2. the file that GOOGLE_APPLICATION_CREDENTIALS names, else gcloud's
///    ~/.config/gcloud/application_default_credentials.json: a service account or an authorized
///    user
/// 3. the service account of the virtual machine, from its metadata server (GCE_METADATA_HOST)
/// 4. none: requests are sent without a token
///
/// With STORAGE_EMULATOR_HOST, only 1 and GOOGLE_APPLICATION_CREDENTIALS are looked for.
base::Result<BearerCredential> FindGcsToken(const StoreContext& context, const std::string& url);

/// Returns the claim set and its signature as a JSON Web Token (RFC 7515, RS256).
base::Result<std::string> SignedToken(const std::string& claims, const std::string& key_id,
                                      const std::string& private_key);

}  // namespace nereid::repository::storage
