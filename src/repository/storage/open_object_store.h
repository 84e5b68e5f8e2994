// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "repository/storage/object_store.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_context.h"

namespace nereid::repository::storage {

/// An object store, and where in it a repository begins.
struct OpenedObjectStore {
  std::unique_ptr<ObjectStore> store;
  /// The path below the bucket, without '/' at its ends: keys of the repository begin with
  /// `prefix + "/"`. Empty if the bucket is the repository.
  std::string prefix;
  /// The URL without secrets, for messages.
  std::string name;
};

/// Opens the object store of a repository's URL (StorageUrl says which forms there are). Looks for
/// no credentials and sends nothing: the first call of the store does. INVALID_ARG if the URL or an
/// environment variable is not valid.
base::Result<OpenedObjectStore> OpenObjectStore(const std::string& url,
                                                const StoreContext& context);

/// Opens the object store with the process's environment and a network client, which all stores of
/// the process share. UNAVAILABLE without libcurl. AWS_CA_BUNDLE or SSL_CERT_FILE may name the
/// certificates to trust.
base::Result<OpenedObjectStore> OpenObjectStore(const std::string& url);

}  // namespace nereid::repository::storage
