// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/gcs_credentials.h"

#include <optional>

#include "base/files.h"
#include "base/json_writer.h"
#include "repository/storage/cloud_credential_file.h"
#include "repository/storage/digests.h"
#include "repository/storage/json_members.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr uint64_t kMaxFile = size_t{1} << 20;
constexpr char kTokenUrl[] = "https://oauth2.googleapis.com/token";
constexpr char kScope[] = "https://www.googleapis.com/auth/devstorage.read_only";
constexpr char kJwtGrant[] = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr uint64_t kLifeSecs = 3600;  // the longest that Google accepts

/// The content of a file with credentials.
struct KeyFile {
  rapidjson::Document document;
  std::string source;
  std::string token_url;
};

base::Result<BearerCredential> UseServiceAccount(const StoreContext& context, const KeyFile& file) {
  const uint64_t now_secs = context.clock->WallMs() / 1000;
  std::string claims;
  base::JsonWriter(&claims)
      .BeginObject()
      .Key("iss")
      .String(TextMember(file.document, "client_email"))
      .Key("scope")
      .String(kScope)
      .Key("aud")
      .String(file.token_url)
      .Key("iat")
      .Integer(now_secs)
      .Key("exp")
      .Integer(now_secs + kLifeSecs)
      .EndObject();
  const base::Result<std::string> assertion =
      SignedToken(claims, TextMember(file.document, "private_key_id"),
                  TextMember(file.document, "private_key"));
  if (!assertion.ok()) {
    return assertion.status().WithPrefix("the credentials " + file.source + ": ");
  }
  return FetchToken(
      context, TokenForm(file.token_url, {{"grant_type", kJwtGrant}, {"assertion", *assertion}}),
      file.source);
}

base::Result<BearerCredential> UseAuthorizedUser(const StoreContext& context, const KeyFile& file) {
  const auto member = [&](const char* name) { return TextMember(file.document, name); };
  return FetchToken(context,
                    TokenForm(file.token_url, {{"grant_type", "refresh_token"},
                                               {"client_id", member("client_id")},
                                               {"client_secret", member("client_secret")},
                                               {"refresh_token", member("refresh_token")}}),
                    file.source);
}

base::Result<BearerCredential> UseFile(const StoreContext& context, const std::string& path,
                                       const std::string& source) {
  const base::Result<std::string> text = base::ReadFile(path, kMaxFile);
  if (!text.ok()) {
    return Status::InvalidArgument("the file '" + path + "' with the credentials " + source +
                                   " cannot be read: " + text.status().message());
  }
  base::Result<rapidjson::Document> document =
      ParseJsonObject(*text, "the file '" + path + "' with the credentials " + source);
  if (!document.ok()) return Status::InvalidArgument(document.status().message());
  KeyFile file = {std::move(*document), source, {}};
  file.token_url = TextMember(file.document, "token_uri");
  if (file.token_url.empty()) file.token_url = kTokenUrl;
  const std::string type = TextMember(file.document, "type");
  if (type == "service_account") {
    file.source =
        "of the service account '" + TextMember(file.document, "client_email") + "' " + source;
    return UseServiceAccount(context, file);
  }
  if (type == "authorized_user") return UseAuthorizedUser(context, file);
  return Status::InvalidArgument("the file '" + path + "' with the credentials " + source +
                                 " has the type '" + type.substr(0, 64) +
                                 "'; expected 'service_account' or 'authorized_user'");
}

/// Asks the metadata server of the virtual machine. Nothing if there is none.
std::optional<BearerCredential> FromMetadataServer(const StoreContext& context) {
  std::string host = context.Variable("GCE_METADATA_HOST");
  if (host.empty()) host = "metadata.google.internal";
  curl::HttpRequest request;
  request.url = "http://" + host + "/computeMetadata/v1/instance/service-accounts/default/token";
  request.fields = {{"Metadata-Flavor", "Google"}};
  request.timeouts = MetadataTimeouts();
  request.use_proxy = false;
  base::Result<BearerCredential> token =
      FetchToken(context, request, "of the virtual machine's service account");
  if (!token.ok()) return std::nullopt;
  return std::move(*token);
}

std::string GcloudFile(const StoreContext& context) {
  std::string folder = context.Variable("CLOUDSDK_CONFIG");
  if (folder.empty()) folder = context.Variable("HOME") + "/.config/gcloud";
  const std::string path = folder + "/application_default_credentials.json";
  return base::PathExists(path) ? path : std::string();
}

}  // namespace

base::Result<std::string> SignedToken(const std::string& claims, const std::string& key_id,
                                      const std::string& private_key) {
  std::string header;
  base::JsonWriter(&header)
      .BeginObject()
      .Key("alg")
      .String("RS256")
      .Key("typ")
      .String("JWT")
      .Key("kid")
      .String(key_id)
      .EndObject();
  const std::string text = Base64Url(header) + "." + Base64Url(claims);
  NEREID_ASSIGN_OR_RETURN(const std::string signature, SignRs256(private_key, text));
  return text + "." + Base64Url(signature);
}

base::Result<BearerCredential> FindGcsToken(const StoreContext& context, const std::string& url) {
  NEREID_ASSIGN_OR_RETURN(const CloudCredentials file,
                          ReadCloudCredentials(context, StoreKind::kGcs, url));
  if (file.entry && !file.entry->field("path").empty()) {
    return UseFile(context, file.entry->field("path"), file.entry->source);
  }
  const bool emulated = !context.Variable("STORAGE_EMULATOR_HOST").empty();
  if (!file.is_used) {
    const std::string path = context.Variable("GOOGLE_APPLICATION_CREDENTIALS");
    if (!path.empty()) {
      return UseFile(context, path, "in '" + path + "' (GOOGLE_APPLICATION_CREDENTIALS)");
    }
    const std::string gcloud = emulated ? std::string() : GcloudFile(context);
    if (!gcloud.empty()) return UseFile(context, gcloud, "in '" + gcloud + "'");
  }
  if (!emulated) {
    std::optional<BearerCredential> token = FromMetadataServer(context);
    if (token) return std::move(*token);
  }
  BearerCredential none;
  none.source =
      "none (GOOGLE_APPLICATION_CREDENTIALS is not set, and there is no service account of a "
      "virtual machine)";
  return none;
}

}  // namespace nereid::repository::storage
