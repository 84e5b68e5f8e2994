// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_credentials.h"

#include <utility>

#include "base/files.h"
#include "repository/storage/aws_profile.h"
#include "repository/storage/aws_web_identity.h"
#include "repository/storage/cloud_credential_file.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr uint64_t kMaxFile = size_t{1} << 20;

std::string PathOf(const StoreContext& context, const char* variable, const char* usual) {
  const std::string path = context.Variable(variable);
  return path.empty() ? context.Variable("HOME") + usual : path;
}

AwsProfile ReadProfile(const std::string& path, const std::string& section) {
  const base::Result<std::string> text = base::ReadFile(path, kMaxFile);
  return text.ok() ? ParseAwsProfile(*text, section) : AwsProfile();
}

/// Returns the profile's settings from both files; those of the credentials file win.
AwsProfile MergedProfile(const StoreContext& context, const std::string& name) {
  AwsProfile profile =
      ReadProfile(PathOf(context, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"), name);
  const std::string config = PathOf(context, "AWS_CONFIG_FILE", "/.aws/config");
  profile.merge(ReadProfile(config, "profile " + name));
  if (name == "default") profile.merge(ReadProfile(config, name));
  return profile;
}

/// Returns the keys of a profile, or nothing if it has none. A profile that was `requested` by name
/// and is not usable is INVALID_ARG.
base::Result<std::optional<AwsCredential>> FindProfileKeys(const StoreContext& context,
                                                           const std::string& name,
                                                           bool requested) {
  AwsProfile profile = MergedProfile(context, name);
  AwsCredential credential;
  credential.source = "of the profile '" + name + "' in AWS's configuration files";
  credential.value = {.key_id = profile["aws_access_key_id"],
                      .secret_key = profile["aws_secret_access_key"],
                      .session_token = profile["aws_session_token"],
                      .region = profile["region"]};
  const bool complete = !credential.value.key_id.empty() && !credential.value.secret_key.empty();
  if (complete) return std::optional(std::move(credential));
  if (!requested) return std::optional<AwsCredential>();
  return Status::InvalidArgument(
      "the profile '" + name +
      "' in AWS's configuration files has no aws_access_key_id and aws_secret_access_key; roles, "
      "single sign-on and processes of a profile are not supported");
}

base::Result<AwsCredential> FromEntry(const StoreContext& context,
                                      const CloudCredentialEntry& entry) {
  const std::string profile = entry.field("profile");
  if (entry.field("key_id").empty() && !profile.empty()) {
    NEREID_ASSIGN_OR_RETURN(std::optional<AwsCredential> found,
                            FindProfileKeys(context, profile, true));
    if (!entry.field("region").empty()) found->value.region = entry.field("region");
    found->source += ", " + entry.source;
    return std::move(*found);
  }
  AwsCredential credential;
  credential.source = entry.source;
  credential.value = {.key_id = entry.field("key_id"),
                      .secret_key = entry.field("secret_key"),
                      .session_token = entry.field("session_token"),
                      .region = entry.field("region")};
  if (credential.value.key_id.empty() != credential.value.secret_key.empty()) {
    return Status::InvalidArgument("the credentials " + entry.source +
                                   " have only one of key_id and secret_key");
  }
  return credential;
}

}  // namespace

base::Result<AwsCredential> FindAwsKeys(const StoreContext& context, const std::string& url) {
  NEREID_ASSIGN_OR_RETURN(const CloudCredentials file,
                          ReadCloudCredentials(context, StoreKind::kS3, url));
  if (file.entry) return FromEntry(context, *file.entry);
  AwsCredential credential;
  std::string profile;
  if (!file.is_used) {
    profile = context.Variable("AWS_PROFILE");
    credential.source = "of the environment variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
    credential.value = {.key_id = context.Variable("AWS_ACCESS_KEY_ID"),
                        .secret_key = context.Variable("AWS_SECRET_ACCESS_KEY"),
                        .session_token = context.Variable("AWS_SESSION_TOKEN")};
    if (!credential.value.key_id.empty() && !credential.value.secret_key.empty()) return credential;
  }
  NEREID_ASSIGN_OR_RETURN(
      std::optional<AwsCredential> found,
      FindProfileKeys(context, profile.empty() ? "default" : profile, !profile.empty()));
  if (found) return std::move(*found);
  const std::string region = MergedProfile(context, "default")["region"];
  NEREID_ASSIGN_OR_RETURN(found, FindWebIdentityKeys(context, context.Variable("AWS_REGION")));
  if (found) return std::move(*found);
  NEREID_ASSIGN_OR_RETURN(found, FindContainerKeys(context));
  if (found) return std::move(*found);
  NEREID_ASSIGN_OR_RETURN(found, FindInstanceKeys(context));
  if (found) return std::move(*found);
  AwsCredential none;
  none.source =
      "none (AWS_ACCESS_KEY_ID is not set, and there is no profile 'default' and no role of a "
      "container or virtual machine)";
  none.value.region = region;
  return none;
}

}  // namespace nereid::repository::storage
