// SPDX-License-Identifier: Apache-2.0
// Tokens of Microsoft Entra ID for Azure Storage.
#pragma once

#include <string>

#include "base/result.h"
#include "repository/storage/bearer_token.h"

namespace nereid::repository::storage {

/// Asks for a token of a managed identity: the server of IDENTITY_ENDPOINT (with IDENTITY_HEADER),
/// as in App Service, else the metadata service of the virtual machine, whose address can be set
/// with AZURE_POD_IDENTITY_AUTHORITY_HOST. `client_id` chooses among several identities; it may be
/// empty.
base::Result<BearerCredential> FetchManagedIdentityToken(const StoreContext& context,
                                                         const std::string& client_id);

/// Asks for a token with what the environment has: AZURE_TENANT_ID and AZURE_CLIENT_ID with
/// AZURE_CLIENT_SECRET or with AZURE_FEDERATED_TOKEN_FILE (workload identity), at
/// AZURE_AUTHORITY_HOST; else a managed identity.
base::Result<BearerCredential> FetchDefaultToken(const StoreContext& context,
                                                 const std::string& client_id);

}  // namespace nereid::repository::storage
