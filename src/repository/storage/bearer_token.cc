// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/bearer_token.h"

#include <algorithm>

#include "repository/storage/json_members.h"
#include "repository/storage/service_error.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr size_t kMaxAnswer = size_t{64} << 10;
constexpr uint64_t kMaxLifeSecs = uint64_t{30} * 24 * 3600;

/// Returns whether the text can be the value of a header field.
bool IsToken(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

curl::HttpRequest TokenForm(const std::string& url, const Parameters& form) {
  curl::HttpRequest request;
  request.method = "POST";
  request.url = url;
  request.fields = {{"Content-Type", "application/x-www-form-urlencoded"}};
  request.body = EncodeParameters(form);
  request.timeouts = TokenTimeouts();
  return request;
}

base::Result<BearerCredential> FetchToken(const StoreContext& context,
                                          const curl::HttpRequest& request,
                                          const std::string& source) {
  curl::HttpRequest bounded = request;
  bounded.max_body = kMaxAnswer;
  base::Result<curl::HttpResponse> response = context.http->Send(bounded);
  if (!response.ok()) {
    return response.status().WithPrefix("no token for the credentials " + source + ": ");
  }
  if (!response->ok()) {
    // Its description is left out: it may repeat a part of the request.
    const ServiceError error = ParseJsonError(response->body);
    const std::string text = "the token server answered the credentials " + source +
                             " with status " + std::to_string(response->status) +
                             (error.code.empty() ? "" : " " + error.code);
    return IsTemporary(response->status, error) ? Status::Unavailable(text)
                                                : Status::InvalidArgument(text);
  }
  const std::string what = "the token server's answer for the credentials " + source;
  NEREID_ASSIGN_OR_RETURN(const rapidjson::Document document,
                          ParseJsonObject(response->body, what));
  BearerCredential credential;
  credential.source = source;
  credential.value.text = TextMember(document, "access_token");
  if (!IsToken(credential.value.text)) return Status::Internal(what + " has no access_token");
  const uint64_t life_secs =
      std::min(NumberMember(document, "expires_in").value_or(kMaxLifeSecs), kMaxLifeSecs);
  credential.expires_ms = context.clock->WallMs() + life_secs * 1000;
  return credential;
}

}  // namespace nereid::repository::storage
