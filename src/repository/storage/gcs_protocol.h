// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "repository/storage/bearer_token.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_protocol.h"

namespace nereid::repository::storage {

/// The JSON API of Google Cloud Storage: objects.list and objects.get. STORAGE_EMULATOR_HOST may
/// name another server, as "host:port" or as a URL.
class GcsProtocol final : public StoreProtocol {
 public:
  GcsProtocol(const StorageUrl& url, const StoreContext& context,
              CredentialCache<BearerToken>::Find find_token);

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
    return "storage.objects.list and storage.objects.get, as the role Storage Object Viewer does";
  }

 private:
  base::Result<PreparedRequest> Prepare(const std::string& path, const Parameters& parameters);

  const std::string name_;
  const std::string root_;  // the URL of the bucket's objects
  CredentialCache<BearerToken> token_;
};

}  // namespace nereid::repository::storage
