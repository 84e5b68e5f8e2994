// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "repository/storage/aws_keys.h"
#include "repository/storage/credential_cache.h"
#include "repository/storage/store_context.h"

namespace nereid::repository::storage {

using AwsCredential = Credential<AwsKeys>;

/// Reads the JSON document in which AWS's servers hand out temporary keys: AccessKeyId,
/// SecretAccessKey, Token, Expiration. INTERNAL, without a part of it, if it is not that.
base::Result<AwsCredential> ParseTemporaryKeys(std::string_view body, const std::string& source);

/// Asks the server of a container's credentials (ECS, EKS Pod Identity) that the variables
/// AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or AWS_CONTAINER_CREDENTIALS_FULL_URI name. Nothing
/// without the variables. INVALID_ARG if the URL is neither https nor of this machine: keys would
/// travel unprotected.
base::Result<std::optional<AwsCredential>> FindContainerKeys(const StoreContext& context);

/// Asks the metadata service of the virtual machine (IMDSv2) for the keys of its role. Nothing if
/// there is no service or no role, or AWS_EC2_METADATA_DISABLED is true. The service's address can
/// be set with AWS_EC2_METADATA_SERVICE_ENDPOINT.
base::Result<std::optional<AwsCredential>> FindInstanceKeys(const StoreContext& context);

}  // namespace nereid::repository::storage
