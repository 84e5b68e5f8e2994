// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_protocol.h"

#include <utility>

#include "curl/url_text.h"
#include "repository/storage/azure_list.h"
#include "repository/storage/azure_signature.h"
#include "repository/storage/list_rules.h"
#include "repository/storage/s3_list.h"
#include "repository/storage/utc_time.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr char kVersion[] = "2023-11-03";

}  // namespace

base::Result<std::unique_ptr<StoreProtocol>> AzureProtocol::Create(
    const StorageUrl& url, const StoreContext& context,
    CredentialCache<AzureKeys>::Find find_keys) {
  std::string server = context.Variable("AZURE_STORAGE_SERVICE_ENDPOINT");
  std::string path;
  if (server.empty()) {
    server = "https://" + url.account + "." + url.domain;
  } else {
    while (server.ends_with('/')) server.pop_back();
    const size_t scheme = server.find("://");
    if (!(server.starts_with("http://") || server.starts_with("https://")) ||
        server.find_first_of("?#@ ") != server.npos) {
      return Status::InvalidArgument("AZURE_STORAGE_SERVICE_ENDPOINT is '" +
                                     curl::UrlForMessages(server) +
                                     "', expected the form https://HOST or http://HOST:PORT/PATH");
    }
    const size_t slash = server.find('/', scheme + 3);
    if (slash != server.npos) {
      path = server.substr(slash);
      server.resize(slash);
    }
  }
  path += "/" + PercentEncode(url.bucket);
  return std::unique_ptr<StoreProtocol>(
      new AzureProtocol(url, context, std::move(server), std::move(path), std::move(find_keys)));
}

AzureProtocol::AzureProtocol(const StorageUrl& url, const StoreContext& context, std::string server,
                             std::string root, CredentialCache<AzureKeys>::Find find_keys)
    : name_(BucketName(url)),
      account_(url.account),
      server_(std::move(server)),
      root_(std::move(root)),
      clock_(*context.clock),
      keys_(std::move(find_keys), *context.clock) {}

base::Result<PreparedRequest> AzureProtocol::Prepare(const std::string& path,
                                                     const Parameters& parameters,
                                                     const curl::HttpFields& fields) {
  NEREID_ASSIGN_OR_RETURN(const auto current, keys_.Get());
  const AzureKeys& keys = current.credential.value;
  AzureRequest to_sign = {root_ + path, parameters, fields};
  to_sign.fields.emplace_back("x-ms-date", HttpTimeText(clock_.WallMs()));
  to_sign.fields.emplace_back("x-ms-version", kVersion);
  PreparedRequest request;
  request.credentials = current.credential.source;
  request.credential_number = current.number;
  std::string query = EncodeParameters(parameters);
  if (!keys.signature.empty()) query += (query.empty() ? "" : "&") + keys.signature;
  request.http.url = server_ + to_sign.path + (query.empty() ? "" : "?" + query);
  request.http.fields = to_sign.fields;
  if (!keys.account_key.empty()) {
    request.http.fields.emplace_back("Authorization",
                                     AzureAuthorization(to_sign, account_, keys.account_key));
  } else if (!keys.token.empty()) {
    request.http.fields.emplace_back("Authorization", "Bearer " + keys.token);
  }
  return request;
}

base::Result<PreparedRequest> AzureProtocol::ListRequest(const std::string& prefix,
                                                         bool only_this_level,
                                                         const std::string& page) {
  Parameters parameters = {
      {"restype", "container"}, {"comp", "list"}, {"maxresults", std::to_string(kPageEntries)}};
  if (!prefix.empty()) parameters.emplace_back("prefix", prefix);
  if (only_this_level) parameters.emplace_back("delimiter", "/");
  if (!page.empty()) parameters.emplace_back("marker", page);
  return Prepare("", parameters, {});
}

base::Result<PreparedRequest> AzureProtocol::ReadRequest(const ObjectInfo& object,
                                                         const curl::ByteRange& range) {
  // The range is among the signed fields, so it is written here and not by the client.
  return Prepare("/" + PercentEncode(object.key, true), {},
                 {{"If-Match", "\"" + object.version + "\""},
                  {"Range", "bytes=" + std::to_string(range.offset) + "-" +
                                std::to_string(range.offset + range.size - 1)}});
}

base::Result<ObjectPage> AzureProtocol::ParseList(const std::string& body) {
  return ParseAzureList(body);
}

ServiceError AzureProtocol::ParseError(const curl::HttpResponse& response) {
  ServiceError error = ParseXmlError(response.body);
  return error;
}

std::string AzureProtocol::VersionOf(const curl::HttpResponse& response) {
  return std::string(WithoutQuotes(response.field("etag")));
}

bool AzureProtocol::Recover(const PreparedRequest& request, const curl::HttpResponse& response,
                            const ServiceError& error) {
  return RefusesCredentials(response.status, error) && keys_.Renew(request.credential_number);
}

}  // namespace nereid::repository::storage
