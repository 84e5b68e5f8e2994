// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_metadata.h"

#include <algorithm>

#include "base/ascii_case.h"
#include "base/files.h"
#include "curl/url_text.h"
#include "repository/storage/json_members.h"
#include "repository/storage/s3_endpoint.h"
#include "repository/storage/url_encode.h"
#include "repository/storage/utc_time.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr char kContainerHost[] = "http://169.254.170.2";
constexpr char kInstanceHost[] = "http://169.254.169.254";
constexpr size_t kMaxAnswer = size_t{64} << 10;
constexpr uint64_t kMaxTokenFile = size_t{64} << 10;

curl::HttpRequest MetadataRequest(std::string url) {
  curl::HttpRequest request;
  request.url = std::move(url);
  request.timeouts = MetadataTimeouts();
  request.max_body = kMaxAnswer;
  request.use_proxy = false;
  return request;
}

std::string_view FirstLine(std::string_view text) {
  return text.substr(0, text.find_first_of("\r\n"));
}

/// Returns whether keys may be fetched from a URL: over https, or from an address that is on this
/// machine or in its link-local network.
bool IsContainerUrl(std::string_view url) {
  if (url.starts_with("https://")) return true;
  constexpr std::string_view kScheme = "http://";
  if (!url.starts_with(kScheme)) return false;
  url.remove_prefix(kScheme.size());
  constexpr std::string_view kHosts[] = {"localhost",     "127.0.0.1",      "[::1]",
                                         "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
  return std::any_of(std::begin(kHosts), std::end(kHosts), [&](std::string_view host) {
    return url.starts_with(host) &&
           (url.size() == host.size() || url[host.size()] == '/' || url[host.size()] == ':') &&
           url.find('@') == url.npos;
  });
}

}  // namespace

base::Result<AwsCredential> ParseTemporaryKeys(std::string_view body, const std::string& source) {
  NEREID_ASSIGN_OR_RETURN(const rapidjson::Document document,
                          ParseJsonObject(body, "the answer with the credentials " + source));
  AwsCredential credential;
  credential.source = source;
  credential.value.key_id = TextMember(document, "AccessKeyId");
  credential.value.secret_key = TextMember(document, "SecretAccessKey");
  credential.value.session_token = TextMember(document, "Token");
  const std::string expiration = TextMember(document, "Expiration");
  credential.expires_ms = ParseTime(expiration);
  if (credential.value.key_id.empty() || credential.value.secret_key.empty() ||
      (!expiration.empty() && !credential.expires_ms)) {
    return Status::Internal("the answer with the credentials " + source +
                            " lacks AccessKeyId or SecretAccessKey, or its Expiration is no time");
  }
  return credential;
}

base::Result<std::optional<AwsCredential>> FindContainerKeys(const StoreContext& context) {
  const std::string relative = context.Variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const std::string full = context.Variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (relative.empty() && full.empty()) return std::optional<AwsCredential>();
  const std::string url = relative.empty() ? full : kContainerHost + relative;
  if (!IsContainerUrl(url)) {
    return Status::InvalidArgument("AWS_CONTAINER_CREDENTIALS_FULL_URI is '" +
                                   curl::UrlForMessages(url) +
                                   "', which is neither https nor an address of this machine");
  }
  curl::HttpRequest request = MetadataRequest(url);
  std::string token = context.Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  const std::string token_file = context.Variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!token_file.empty()) {
    NEREID_ASSIGN_OR_RETURN(const std::string content, base::ReadFile(token_file, kMaxTokenFile));
    token = FirstLine(content);
  }
  if (!token.empty()) request.fields.emplace_back("Authorization", token);
  const std::string source = "of the container (" + curl::UrlForMessages(url) + ")";
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, context.http->Send(request));
  if (!response.ok()) {
    const Status failure(response.status >= 500 || response.status == 429
                             ? base::StatusCode::kUnavailable
                             : base::StatusCode::kInvalidArgument,
                         "the server of the credentials " + source + " answered with status " +
                             std::to_string(response.status));
    return failure;
  }
  NEREID_ASSIGN_OR_RETURN(AwsCredential credential, ParseTemporaryKeys(response.body, source));
  return std::optional(std::move(credential));
}

base::Result<std::optional<AwsCredential>> FindInstanceKeys(const StoreContext& context) {
  const std::optional<AwsCredential> none;
  if (base::EqualsIgnoringCase(context.Variable("AWS_EC2_METADATA_DISABLED"), "true")) return none;
  std::string host = context.Variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
  if (host.empty()) host = kInstanceHost;
  while (host.ends_with('/')) host.pop_back();

  curl::HttpRequest ask_token = MetadataRequest(host + "/latest/api/token");
  ask_token.method = "PUT";
  ask_token.fields = {{"X-aws-ec2-metadata-token-ttl-seconds", "21600"}};
  const base::Result<curl::HttpResponse> token = context.http->Send(ask_token);
  if (!token.ok() || !token->ok()) return none;  // not a virtual machine of AWS

  const curl::HttpFields fields = {
      {"X-aws-ec2-metadata-token", std::string(FirstLine(token->body))}};
  const std::string root = host + "/latest/meta-data/";
  const auto ask = [&](const std::string& path) {
    curl::HttpRequest request = MetadataRequest(root + path);
    request.fields = fields;
    return context.http->Send(request);
  };
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse roles, ask("iam/security-credentials/"));
  const std::string role(FirstLine(roles.body));
  if (roles.status == 404 || (roles.ok() && role.empty())) return none;
  if (!roles.ok()) {
    return Status::Unavailable("the metadata service of the virtual machine answered with status " +
                               std::to_string(roles.status));
  }
  const std::string source = "of the virtual machine's role '" + role.substr(0, 64) + "'";
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse keys,
                          ask("iam/security-credentials/" + PercentEncode(role)));
  if (!keys.ok()) {
    return Status::Unavailable("the metadata service answered the request of the credentials " +
                               source + " with status " + std::to_string(keys.status));
  }
  NEREID_ASSIGN_OR_RETURN(AwsCredential credential, ParseTemporaryKeys(keys.body, source));
  const base::Result<curl::HttpResponse> region = ask("placement/region");
  if (region.ok() && region->ok() && IsRegion(FirstLine(region->body))) {
    credential.value.region = FirstLine(region->body);
  }
  return std::optional(std::move(credential));
}

}  // namespace nereid::repository::storage
