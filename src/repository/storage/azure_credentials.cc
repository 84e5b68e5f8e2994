// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_credentials.h"

#include "repository/storage/azure_identity.h"
#include "repository/storage/cloud_credential_file.h"
#include "repository/storage/digests.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

/// The settings that a credential file and the environment have in common.
struct Settings {
  std::string account;
  std::string key;
  std::string auth_type;
  std::string client_id;
  std::string source;  // of the account and the key
};

Settings FromEntry(const CloudCredentialEntry& entry) {
  return {entry.field("account_str"), entry.field("account_key"), entry.field("auth_type"),
          entry.field("client_id"), entry.source};
}

Settings FromEnvironment(const StoreContext& context) {
  return {context.Variable("AZURE_STORAGE_ACCOUNT"), context.Variable("AZURE_STORAGE_KEY"),
          context.Variable("AZURE_STORAGE_AUTH_TYPE"), context.Variable("AZURE_STORAGE_CLIENT_ID"),
          "of the environment variable AZURE_STORAGE_KEY"};
}

/// Returns an account's name without the domain that may follow it.
std::string AccountName(const std::string& account) { return account.substr(0, account.find('.')); }

base::Result<AzureCredential> UseKey(const Settings& settings, const StorageUrl& url) {
  if (!settings.account.empty() && AccountName(settings.account) != url.account) {
    return Status::InvalidArgument("the credentials " + settings.source +
                                   " belong to the storage account '" + settings.account +
                                   "', but the repository is in the account '" + url.account + "'");
  }
  const std::optional<std::string> key = DecodeBase64(settings.key);
  if (!key) {
    return Status::InvalidArgument("the storage account's key " + settings.source +
                                   " is not base64");
  }
  AzureCredential credential;
  credential.source = settings.source;
  credential.value.account_key = *key;
  return credential;
}

AzureCredential Signature(std::string query, const std::string& source) {
  while (query.starts_with('?')) query.erase(0, 1);
  AzureCredential credential;
  credential.source = source;
  credential.value.signature = std::move(query);
  return credential;
}

base::Result<AzureCredential> UseToken(base::Result<BearerCredential> token) {
  if (!token.ok()) return token.status();
  AzureCredential credential;
  credential.source = token->source;
  credential.expires_ms = token->expires_ms;
  credential.value.token = token->value.text;
  return credential;
}

}  // namespace

base::Result<AzureCredential> FindAzureKeys(const StoreContext& context, const std::string& url,
                                            const StorageUrl& parts) {
  if (!parts.query.empty()) {
    return Signature(parts.query, "of the shared access signature in the repository's URL");
  }
  NEREID_ASSIGN_OR_RETURN(const CloudCredentials file,
                          ReadCloudCredentials(context, StoreKind::kAzure, url));
  Settings settings;
  if (file.entry) settings = FromEntry(*file.entry);
  if (!file.is_used) settings = FromEnvironment(context);
  const std::string& type = settings.auth_type;
  if (!type.empty() && type != "key" && type != "managed_identity" && type != "default") {
    return Status::InvalidArgument(
        "the kind of authentication of Azure (AZURE_STORAGE_AUTH_TYPE or auth_type) is '" +
        type.substr(0, 64) + "'; expected 'key', 'managed_identity' or 'default'");
  }
  if (type == "managed_identity") {
    return UseToken(FetchManagedIdentityToken(context, settings.client_id));
  }
  if (type == "default") return UseToken(FetchDefaultToken(context, settings.client_id));
  if (!settings.key.empty()) return UseKey(settings, parts);
  const std::string signature = context.Variable("AZURE_STORAGE_SAS_TOKEN");
  if (type.empty() && !file.is_used && !signature.empty()) {
    return Signature(signature, "of the environment variable AZURE_STORAGE_SAS_TOKEN");
  }
  AzureCredential none;
  none.source = "none (neither AZURE_STORAGE_KEY nor AZURE_STORAGE_AUTH_TYPE is set)";
  return none;
}

}  // namespace nereid::repository::storage
