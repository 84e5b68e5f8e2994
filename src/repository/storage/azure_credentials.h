// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "repository/storage/credential_cache.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_context.h"

namespace nereid::repository::storage {

/// What authorizes requests to Azure: at most one member is not empty.
struct AzureKeys {
  std::string account_key = {};  // of SharedKey, decoded
  std::string signature = {};    // a shared access signature: a query without '?'
  std::string token = {};        // of Microsoft Entra ID

  bool operator==(const AzureKeys&) const = default;
};

using AzureCredential = Credential<AzureKeys>;

/// Finds the credentials for a repository in Azure Blob Storage. The first that exists counts:
///
/// 1. the query of the URL, a shared access signature
/// 2. the entry for `url` in the file of TRITON_CLOUD_CREDENTIAL_PATH; with the file, 3 is not used
/// 3. AZURE_STORAGE_AUTH_TYPE: "key": AZURE_STORAGE_KEY; "managed_identity": the identity of the
///    virtual machine or app, AZURE_STORAGE_CLIENT_ID chooses among several; "default": a client
///    secret or a workload identity from the environment, else a managed identity. Without it:
///    AZURE_STORAGE_KEY, else AZURE_STORAGE_SAS_TOKEN
/// 4. none: requests are sent without credentials
///
/// INVALID_ARG if AZURE_STORAGE_ACCOUNT or account_str names another account than the URL.
base::Result<AzureCredential> FindAzureKeys(const StoreContext& context, const std::string& url,
                                            const StorageUrl& parts);

}  // namespace nereid::repository::storage
