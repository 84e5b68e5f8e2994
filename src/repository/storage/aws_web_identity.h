// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "repository/storage/aws_metadata.h"

namespace nereid::repository::storage {

/// Exchanges the token of a Kubernetes service account for temporary keys of a role, at AWS's
/// Security Token Service (AssumeRoleWithWebIdentity). The variables AWS_WEB_IDENTITY_TOKEN_FILE,
/// AWS_ROLE_ARN and AWS_ROLE_SESSION_NAME say which, AWS_ENDPOINT_URL_STS may name another server.
/// Nothing without the first two. INVALID_ARG if the service refuses the token.
base::Result<std::optional<AwsCredential>> FindWebIdentityKeys(const StoreContext& context,
                                                               const std::string& region);

}  // namespace nereid::repository::storage
