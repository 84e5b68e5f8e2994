// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/service_error.h"

#include <algorithm>
#include <iterator>

#include "repository/storage/json_members.h"
#include "repository/storage/xml_document.h"

namespace nereid::repository::storage {
namespace {

using base::Status;

constexpr size_t kMaxCode = 64;
constexpr size_t kMaxMessage = 300;

/// Codes of S3 with the status 400 that concern the credentials.
constexpr std::string_view kCredentialCodes[] = {
    "ExpiredToken",  "InvalidToken",   "InvalidAccessKeyId",           "TokenRefreshRequired",
    "invalid_grant", "invalid_client", "AuthorizationHeaderMalformed", "unauthorized_client"};
constexpr std::string_view kTemporaryCodes[] = {"RequestTimeout", "SlowDown", "ServerBusy",
                                                "InternalError", "temporarily_unavailable"};

template <size_t n>
bool IsOneOf(std::string_view text, const std::string_view (&list)[n]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

std::string CodeText(std::string_view text) {
  const bool is_code = text.size() <= kMaxCode && std::all_of(text.begin(), text.end(), [](char c) {
                         return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                                (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == '-';
                       });
  return is_code ? std::string(text) : std::string();
}

/// Returns the first line of a text without unprintable bytes: it goes into a log.
std::string MessageText(std::string_view text) {
  text = text.substr(0, std::min(text.find_first_of("\r\n"), kMaxMessage));
  std::string line;
  std::copy_if(text.begin(), text.end(), std::back_inserter(line),
               [](char c) { return c >= 0x20 && c < 0x7f; });
  return line;
}

std::string Answer(int http_status, const ServiceError& error) {
  std::string text = "the store answered with status " + std::to_string(http_status);
  if (!error.code.empty()) text += " " + error.code;
  if (!error.message.empty()) text += " (" + error.message + ")";
  return text;
}

}  // namespace

ServiceError ParseXmlError(std::string_view body) {
  ServiceError error;
  pugi::xml_document document;
  pugi::xml_node root;
  if (!ParseXml(body, "Error", &document, &root).ok()) return error;
  error.code = CodeText(root.child_value("Code"));
  error.message = MessageText(root.child_value("Message"));
  error.region = CodeText(root.child_value("Region"));
  return error;
}

ServiceError ParseJsonError(std::string_view body) {
  ServiceError error;
  const auto document = ParseJsonObject(body, "");
  if (!document.ok()) return error;
  const rapidjson::Value* const inner = FindMember(*document, "error");
  if (inner == nullptr) return error;
  if (inner->IsString()) {
    error.code = CodeText(TextMember(*document, "error"));
    error.message = MessageText(TextMember(*document, "error_description"));
    return error;
  }
  error.message = MessageText(TextMember(*inner, "message"));
  const rapidjson::Value* const details = FindMember(*inner, "errors");
  if (details != nullptr && details->IsArray() && !details->Empty()) {
    error.code = CodeText(TextMember((*details)[0], "reason"));
  }
  return error;
}

bool RefusesCredentials(int http_status, const ServiceError& error) {
  return http_status == 401 || http_status == 403 ||
         (http_status == 400 && IsOneOf(error.code, kCredentialCodes));
}

bool IsTemporary(int http_status, const ServiceError& error) {
  return http_status == 408 || http_status == 429 || http_status >= 500 ||
         IsOneOf(error.code, kTemporaryCodes);
}

Status StatusOf(const FailedCall& call, int http_status, const ServiceError& error) {
  const std::string text = call.what + ": " + Answer(http_status, error);
  if (IsTemporary(http_status, error)) return Status::Unavailable(text);
  if (http_status == 404) return Status::NotFound(text);
  if (RefusesCredentials(http_status, error)) {
    return Status::InvalidArgument(text + ". The credentials are " + call.credentials +
                                   "; they must permit " + call.permissions);
  }
  return Status::Internal(text);
}

}  // namespace nereid::repository::storage
