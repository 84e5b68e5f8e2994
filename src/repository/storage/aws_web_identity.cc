// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_web_identity.h"

#include "base/files.h"
#include "repository/storage/service_error.h"
#include "repository/storage/url_encode.h"
#include "repository/storage/utc_time.h"
#include "repository/storage/xml_document.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr uint64_t kMaxTokenFile = size_t{64} << 10;

base::Result<AwsCredential> ParseAnswer(std::string_view body, const std::string& source) {
  pugi::xml_document document;
  pugi::xml_node root;
  NEREID_RETURN_IF_ERROR(ParseXml(body, "AssumeRoleWithWebIdentityResponse", &document, &root));
  const pugi::xml_node keys = root.child("AssumeRoleWithWebIdentityResult").child("Credentials");
  AwsCredential credential;
  credential.source = source;
  credential.value = {.key_id = keys.child_value("AccessKeyId"),
                      .secret_key = keys.child_value("SecretAccessKey"),
                      .session_token = keys.child_value("SessionToken")};
  credential.expires_ms = ParseTime(keys.child_value("Expiration"));
  if (credential.value.key_id.empty() || credential.value.secret_key.empty() ||
      !credential.expires_ms) {
    return Status::Internal("the answer with the credentials " + source + " is not complete");
  }
  return credential;
}

}  // namespace

base::Result<std::optional<AwsCredential>> FindWebIdentityKeys(const StoreContext& context,
                                                               const std::string& region) {
  const std::string file = context.Variable("AWS_WEB_IDENTITY_TOKEN_FILE");
  const std::string role = context.Variable("AWS_ROLE_ARN");
  if (file.empty() || role.empty()) return std::optional<AwsCredential>();
  NEREID_ASSIGN_OR_RETURN(std::string token, base::ReadFile(file, kMaxTokenFile));
  while (token.ends_with('\n') || token.ends_with('\r')) token.pop_back();
  const std::string session = context.Variable("AWS_ROLE_SESSION_NAME");
  std::string url = context.Variable("AWS_ENDPOINT_URL_STS");
  if (url.empty()) {
    url = "https://sts." + (region.empty() ? "" : region + ".") + "amazonaws.com" +
          (region.starts_with("cn-") ? ".cn" : "");
  }
  curl::HttpRequest request;
  request.method = "POST";
  request.url = url + (url.ends_with('/') ? "" : "/");
  request.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.timeouts = TokenTimeouts();
  request.body = EncodeParameters({{"Action", "AssumeRoleWithWebIdentity"},
                                   {"Version", "2011-06-15"},
                                   {"RoleArn", role},
                                   {"RoleSessionName", session.empty() ? "nereid" : session},
                                   {"WebIdentityToken", token}});
  const std::string source = "of the role '" + role + "' (AWS_ROLE_ARN) for the token in '" + file +
                             "' (AWS_WEB_IDENTITY_TOKEN_FILE)";
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse response, context.http->Send(request));
  if (!response.ok()) {
    const std::string text = "AWS's token service answered the request of the credentials " +
                             source + " with status " + std::to_string(response.status);
    return IsTemporary(response.status, {}) ? Status::Unavailable(text)
                                            : Status::InvalidArgument(text);
  }
  NEREID_ASSIGN_OR_RETURN(AwsCredential credential, ParseAnswer(response.body, source));
  return std::optional(std::move(credential));
}

}  // namespace nereid::repository::storage
