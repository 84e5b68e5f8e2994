// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "repository/storage/aws_metadata.h"

namespace nereid::repository::storage {

/// Finds the keys for a repository in S3. The first that exists counts:
///
/// 1. the entry for `url` in the file of TRITON_CLOUD_CREDENTIAL_PATH; with the file, 2 and the
///    variable AWS_PROFILE are not used
/// 2. AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN
/// 3. the profile AWS_PROFILE, or "default", of ~/.aws/credentials and ~/.aws/config
/// 4. a web identity (FindWebIdentityKeys), 5. a container's role, 6. a virtual machine's role
/// 7. none: requests are not signed
base::Result<AwsCredential> FindAwsKeys(const StoreContext& context, const std::string& url);

}  // namespace nereid::repository::storage
