// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/aws_signature.h"

#include <algorithm>

#include "base/ascii_case.h"
#include "repository/storage/digests.h"

namespace nereid::repository::storage {
namespace {

constexpr char kAlgorithm[] = "AWS4-HMAC-SHA256";

/// Returns the value without blanks at its ends, with one blank where there are several.
std::string TrimmedValue(std::string_view value) {
  std::string trimmed;
  for (const char c : value) {
    if (c != ' ' || (!trimmed.empty() && trimmed.back() != ' ')) trimmed += c;
  }
  if (trimmed.ends_with(' ')) trimmed.pop_back();
  return trimmed;
}

/// Returns the fields in the order of their names, which are in lower case.
curl::HttpFields CanonicalFields(const curl::HttpFields& fields) {
  curl::HttpFields canonical;
  for (const auto& [name, value] : fields) {
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(), base::LowerCase);
    canonical.emplace_back(std::move(lower), TrimmedValue(value));
  }
  std::sort(canonical.begin(), canonical.end());
  return canonical;
}

}  // namespace

std::string AwsAuthorization(const AwsRequest& request, const AwsScope& scope,
                             const AwsKeys& keys) {
  std::string field_lines;
  std::string names;
  for (const auto& [name, value] : CanonicalFields(request.fields)) {
    field_lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string canonical = request.method + "\n" + request.path + "\n" +
                                EncodeParameters(request.parameters) + "\n" + field_lines + "\n" +
                                names + "\n" + request.body_sha256;
  const std::string date = scope.time.substr(0, 8);
  const std::string scope_text = date + "/" + scope.region + "/" + scope.service + "/aws4_request";
  const std::string to_sign = std::string(kAlgorithm) + "\n" + scope.time + "\n" + scope_text +
                              "\n" + HexOf(Sha256(canonical));
  std::string key = HmacSha256("AWS4" + keys.secret_key, date);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")}) {
    key = HmacSha256(key, part);
  }
  return std::string(kAlgorithm) + " Credential=" + keys.key_id + "/" + scope_text +
         ", SignedHeaders=" + names + ", Signature=" + HexOf(HmacSha256(key, to_sign));
}

}  // namespace nereid::repository::storage
