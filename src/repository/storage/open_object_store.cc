// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/open_object_store.h"

#include <cstdlib>
#include <utility>

#include "curl/curl_client.h"
#include "repository/storage/aws_credentials.h"
#include "repository/storage/azure_credentials.h"
#include "repository/storage/azure_protocol.h"
#include "repository/storage/cloud_store.h"
#include "repository/storage/gcs_credentials.h"
#include "repository/storage/gcs_protocol.h"
#include "repository/storage/s3_protocol.h"

namespace nereid::repository::storage {
namespace {

using ProtocolResult = base::Result<std::unique_ptr<StoreProtocol>>;

ProtocolResult MakeProtocol(const std::string& url, const StorageUrl& parts,
                            const StoreContext& context) {
  switch (parts.kind) {
    case StoreKind::kGcs:
      return std::unique_ptr<StoreProtocol>(std::make_unique<GcsProtocol>(
          parts, context, [context, url] { return FindGcsToken(context, url); }));
    case StoreKind::kAzure:
      return AzureProtocol::Create(
          parts, context, [context, url, parts] { return FindAzureKeys(context, url, parts); });
    case StoreKind::kS3:
      break;
  }
  return S3Protocol::Create(parts, context, [context, url] { return FindAwsKeys(context, url); });
}

base::Result<std::shared_ptr<curl::HttpClient>> ProcessClient() {
  static const auto client = []() -> base::Result<std::shared_ptr<curl::HttpClient>> {
    curl::CurlClientSettings settings;
    for (const char* const variable : {"AWS_CA_BUNDLE", "SSL_CERT_FILE"}) {
      const char* const file = std::getenv(variable);
      if (file != nullptr && settings.certificate_file.empty()) settings.certificate_file = file;
    }
    auto created = curl::CurlClient::Create(std::move(settings));
    if (!created.ok()) return created.status().WithPrefix("repositories in object stores: ");
    return std::shared_ptr<curl::HttpClient>(std::move(*created));
  }();
  return client;
}

}  // namespace

base::Result<OpenedObjectStore> OpenObjectStore(const std::string& url,
                                                const StoreContext& context) {
  NEREID_ASSIGN_OR_RETURN(const StorageUrl parts, ParseStorageUrl(url));
  NEREID_ASSIGN_OR_RETURN(std::unique_ptr<StoreProtocol> protocol,
                          MakeProtocol(url, parts, context));
  OpenedObjectStore opened;
  opened.prefix = parts.prefix;
  opened.name = BucketName(parts) + (parts.prefix.empty() ? "" : "/" + parts.prefix);
  opened.store = std::make_unique<CloudStore>(context.http, std::move(protocol));
  return opened;
}

base::Result<OpenedObjectStore> OpenObjectStore(const std::string& url) {
  NEREID_ASSIGN_OR_RETURN(std::shared_ptr<curl::HttpClient> http, ProcessClient());
  return OpenObjectStore(url, StoreContext{std::move(http), ::getenv, &base::SteadyClock()});
}

}  // namespace nereid::repository::storage
