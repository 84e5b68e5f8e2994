// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_identity.h"

#include "base/files.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr char kResource[] = "https://storage.azure.com/";
constexpr char kScope[] = "https://storage.azure.com/.default";
constexpr char kAssertionType[] = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr uint64_t kMaxTokenFile = size_t{64} << 10;

std::string WithoutSlash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

/// A client of Entra ID that the environment describes.
struct Client {
  std::string tenant;
  std::string id;
  std::string secret;
  std::string token_file;
};

base::Result<BearerCredential> FetchClientToken(const StoreContext& context, const Client& client) {
  std::string host = WithoutSlash(context.Variable("AZURE_AUTHORITY_HOST"));
  if (host.empty()) host = "https://login.microsoftonline.com";
  Parameters form = {
      {"grant_type", "client_credentials"}, {"client_id", client.id}, {"scope", kScope}};
  std::string source = "of the client '" + client.id + "' (AZURE_CLIENT_ID)";
  if (!client.secret.empty()) {
    form.emplace_back("client_secret", client.secret);
    source += " with AZURE_CLIENT_SECRET";
  } else {
    const base::Result<std::string> token = base::ReadFile(client.token_file, kMaxTokenFile);
    if (!token.ok()) {
      return Status::InvalidArgument(
          "the file '" + client.token_file +
          "' (AZURE_FEDERATED_TOKEN_FILE) cannot be read: " + token.status().message());
    }
    form.emplace_back("client_assertion_type", kAssertionType);
    form.emplace_back("client_assertion", token->substr(0, token->find_first_of("\r\n")));
    source += " with the token in '" + client.token_file + "' (AZURE_FEDERATED_TOKEN_FILE)";
  }
  const std::string url = host + "/" + PercentEncode(client.tenant) + "/oauth2/v2.0/token";
  return FetchToken(context, TokenForm(url, form), source);
}

}  // namespace

base::Result<BearerCredential> FetchManagedIdentityToken(const StoreContext& context,
                                                         const std::string& client_id) {
  Parameters parameters = {{"resource", kResource}};
  if (!client_id.empty()) parameters.emplace_back("client_id", client_id);
  curl::HttpRequest request;
  request.timeouts = MetadataTimeouts();
  request.use_proxy = false;
  const std::string endpoint = context.Variable("IDENTITY_ENDPOINT");
  const std::string header = context.Variable("IDENTITY_HEADER");
  if (!endpoint.empty() && !header.empty()) {
    parameters.emplace_back("api-version", "2019-08-01");
    request.url = endpoint;
    request.fields = {{"X-IDENTITY-HEADER", header}};
  } else {
    std::string host = WithoutSlash(context.Variable("AZURE_POD_IDENTITY_AUTHORITY_HOST"));
    if (host.empty()) host = "http://169.254.169.254";
    parameters.emplace_back("api-version", "2018-02-01");
    request.url = host + "/metadata/identity/oauth2/token";
    request.fields = {{"Metadata", "true"}};
  }
  request.url += "?" + EncodeParameters(parameters);
  return FetchToken(context, request,
                    client_id.empty() ? "of the managed identity"
                                      : "of the managed identity '" + client_id + "'");
}

base::Result<BearerCredential> FetchDefaultToken(const StoreContext& context,
                                                 const std::string& client_id) {
  const Client client = {context.Variable("AZURE_TENANT_ID"), context.Variable("AZURE_CLIENT_ID"),
                         context.Variable("AZURE_CLIENT_SECRET"),
                         context.Variable("AZURE_FEDERATED_TOKEN_FILE")};
  const bool described = !client.tenant.empty() && !client.id.empty() &&
                         !(client.secret.empty() && client.token_file.empty());
  return described ? FetchClientToken(context, client)
                   : FetchManagedIdentityToken(context, client_id);
}

}  // namespace nereid::repository::storage
