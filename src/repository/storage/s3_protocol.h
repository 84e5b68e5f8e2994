// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "repository/storage/aws_keys.h"
#include "repository/storage/credential_cache.h"
#include "repository/storage/s3_endpoint.h"
#include "repository/storage/storage_url.h"
#include "repository/storage/store_context.h"
#include "repository/storage/store_protocol.h"
#include "repository/storage/url_encode.h"

namespace nereid::repository::storage {

/// S3's REST API: ListObjectsV2 and GetObject, for AWS and servers with the same protocol.
class S3Protocol final : public StoreProtocol {
 public:
  /// `find_keys` finds the credentials. A server is that of the URL, else the one of
  /// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, else AWS. INVALID_ARG if a variable is not valid.
  static base::Result<std::unique_ptr<StoreProtocol>> Create(
      const StorageUrl& url, const StoreContext& context, CredentialCache<AwsKeys>::Find find_keys);

  base::Result<PreparedRequest> ListRequest(const std::string& prefix, bool only_this_level,
                                            const std::string& page) override;
  base::Result<PreparedRequest> ReadRequest(const ObjectInfo& object,
                                            const curl::ByteRange& range) override;
  base::Result<ObjectPage> ParseList(const std::string& body) override;
  ServiceError ParseError(const curl::HttpResponse& response) override;
  std::string VersionOf(const curl::HttpResponse& response) override;
  base::Status CheckObject(const ObjectInfo& object, const curl::HttpResponse& head) override;
  bool Recover(const PreparedRequest& request, const curl::HttpResponse& response,
               const ServiceError& error) override;
  std::string name() const override { return name_; }
  std::string permissions() const override {
    return "s3:ListBucket on the bucket and s3:GetObject on its objects";
  }

 private:
  S3Protocol(const StorageUrl& url, const StoreContext& context,
             CredentialCache<AwsKeys>::Find find_keys, std::optional<S3Endpoint> endpoint);
  base::Result<PreparedRequest> Prepare(const std::string& path, const Parameters& parameters);
  std::string RegionOf(const AwsKeys& keys);

  const std::string name_;
  const std::string bucket_;
  const base::Clock& clock_;
  const std::optional<S3Endpoint> endpoint_;  // none: AWS
  const std::string default_region_;
  CredentialCache<AwsKeys> keys_;
  /// Set when an object turns out to be encrypted such that its ETag is not the MD5 of its content.
  std::atomic<bool> tags_are_md5_{true};
  base::Mutex mutex_;
  std::string learned_region_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::repository::storage
