// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "repository/storage/azure_credentials.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_protocol.h"
#include "repository/storage/url_encode.h"

namespace nereid::repository::storage {

/// The REST API of Azure Blob Storage: List Blobs and Get Blob.
class AzureProtocol final : public StoreProtocol {
 public:
  /// AZURE_STORAGE_SERVICE_ENDPOINT may name another server and a path on it, as "http://host:port/
  /// account"; it must belong to the URL's account. INVALID_ARG if it is not a URL.
  static base::Result<std::unique_ptr<StoreProtocol>> Create(
      const StorageUrl& url, const StoreContext& context,
      CredentialCache<AzureKeys>::Find find_keys);

  base::Result<PreparedRequest> ListRequest(const std::string& prefix, bool only_this_level,
                                            const std::string& page) override;
  base::Result<PreparedRequest> ReadRequest(const ObjectInfo& object,
                                            const curl::ByteRange& range) override;
  base::Result<ObjectPage> ParseList(const std::string& body) override;
  ServiceError ParseError(const curl::HttpResponse& response) override;
  std::string VersionOf(const curl::HttpResponse& response) override;
  bool Recover(const PreparedRequest& request, const curl::HttpResponse& response,
               const ServiceError& error) override;
  std::string name() const override { return name_; }
  std::string permissions() const override {
    return "listing the container and reading its blobs, as the role Storage Blob Data Reader does";
  }

 private:
  AzureProtocol(const StorageUrl& url, const StoreContext& context, std::string server,
                std::string root, CredentialCache<AzureKeys>::Find find_keys);
  base::Result<PreparedRequest> Prepare(const std::string& path, const Parameters& parameters,
                                        const curl::HttpFields& fields);

  const std::string name_;
  const std::string account_;
  const std::string server_;  // "https://account.blob.core.windows.net"
  const std::string root_;    // the container's path: "/container"
  const base::Clock& clock_;
  CredentialCache<AzureKeys> keys_;
};

}  // namespace nereid::repository::storage
