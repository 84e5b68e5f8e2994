// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/azure_signature.h"

#include <algorithm>

#include "base/ascii_case.h"
#include "repository/storage/digests.h"

namespace nereid::repository::storage {
namespace {

std::string CanonicalFields(const curl::HttpFields& fields) {
  curl::HttpFields canonical;
  for (const auto& [name, value] : fields) {
    std::string lower = base::ToLower(name);
    if (lower.starts_with("x-ms-")) canonical.emplace_back(std::move(lower), value);
  }
  std::sort(canonical.begin(), canonical.end());
  std::string text;
  for (const auto& [name, value] : canonical) text += name + ":" + value + "\n";
  return text;
}

std::string CanonicalResource(const AzureRequest& request, const std::string& account) {
  Parameters sorted;
  for (const auto& [name, value] : request.parameters) {
    sorted.emplace_back(base::ToLower(name), value);
  }
  std::sort(sorted.begin(), sorted.end());
  std::string text = "/" + account + request.path;
  for (const auto& [name, value] : sorted) text += "\n" + name + ":" + value;
  return text;
}

}  // namespace

std::string AzureStringToSign(const AzureRequest& request, const std::string& account) {
  // VERB, Content-Encoding, -Language, -Length, -MD5, -Type, Date, If-Modified-Since, If-Match,
  // If-None-Match, If-Unmodified-Since, Range. "x-ms-date" takes the place of Date.
  std::string text = "GET\n\n\n\n\n\n\n\n";
  text += std::string(curl::FieldOf(request.fields, "If-Match")) + "\n\n\n";
  text += std::string(curl::FieldOf(request.fields, "Range")) + "\n";
  return text + CanonicalFields(request.fields) + CanonicalResource(request, account);
}

std::string AzureAuthorization(const AzureRequest& request, const std::string& account,
                               std::string_view key) {
  return "SharedKey " + account + ":" +
         Base64(HmacSha256(key, AzureStringToSign(request, account)));
}

}  // namespace nereid::repository::storage
