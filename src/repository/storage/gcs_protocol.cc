// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/gcs_protocol.h"

#include "repository/storage/gcs_list.h"
#include "repository/storage/list_rules.h"

namespace nereid::repository::storage {
namespace {

std::string ServerOf(const StoreContext& context) {
  std::string server = context.Variable("STORAGE_EMULATOR_HOST");
  if (server.empty()) return "https://storage.googleapis.com";
  while (server.ends_with('/')) server.pop_back();
  return server.find("://") == server.npos ? "http://" + server : server;
}

}  // namespace

GcsProtocol::GcsProtocol(const StorageUrl& url, const StoreContext& context,
                         CredentialCache<BearerToken>::Find find_token)
    : name_(BucketName(url)),
      root_(ServerOf(context) + "/storage/v1/b/" + PercentEncode(url.bucket) + "/o"),
      token_(std::move(find_token), *context.clock) {}

base::Result<PreparedRequest> GcsProtocol::Prepare(const std::string& path,
                                                   const Parameters& parameters) {
  NEREID_ASSIGN_OR_RETURN(const auto current, token_.Get());
  PreparedRequest request;
  request.credentials = current.credential.source;
  request.credential_number = current.number;
  request.http.url = root_ + path + "?" + EncodeParameters(parameters);
  const std::string& token = current.credential.value.text;
  if (!token.empty()) request.http.fields.emplace_back("Authorization", "Bearer " + token);
  return request;
}

base::Result<PreparedRequest> GcsProtocol::ListRequest(const std::string& prefix,
                                                       bool only_this_level,
                                                       const std::string& page) {
  Parameters parameters = {
      {"prefix", prefix},
      {"maxResults", std::to_string(kPageEntries)},
      {"fields", "items(name,size,generation,md5Hash,crc32c),prefixes,nextPageToken"}};
  if (only_this_level) parameters.emplace_back("delimiter", "/");
  if (!page.empty()) parameters.emplace_back("pageToken", page);
  return Prepare("", parameters);
}

base::Result<PreparedRequest> GcsProtocol::ReadRequest(const ObjectInfo& object,
                                                       const curl::ByteRange& range) {
  NEREID_ASSIGN_OR_RETURN(PreparedRequest request,
                          Prepare("/" + PercentEncode(object.key),
                                  {{"alt", "media"}, {"ifGenerationMatch", object.version}}));
  // Otherwise the store inflates what was stored with "Content-Encoding: gzip": other bytes than
  // those of the size and the checksum, and without ranges.
  request.http.fields.emplace_back("Accept-Encoding", "gzip");
  request.http.range = range;
  return request;
}

base::Result<ObjectPage> GcsProtocol::ParseList(const std::string& body) {
  return ParseGcsList(body);
}

ServiceError GcsProtocol::ParseError(const curl::HttpResponse& response) {
  return ParseJsonError(response.body);
}

std::string GcsProtocol::VersionOf(const curl::HttpResponse& response) {
  return std::string(response.field("x-goog-generation"));
}

bool GcsProtocol::Recover(const PreparedRequest& request, const curl::HttpResponse& response,
                          const ServiceError& error) {
  return RefusesCredentials(response.status, error) && token_.Renew(request.credential_number);
}

}  // namespace nereid::repository::storage
