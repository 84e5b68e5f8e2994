// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/cors.h"

#include <algorithm>

namespace nereid::frontend::http {
namespace {

constexpr std::string_view kEveryPage = "*";

/// The reply is different for each origin: a cache must not give one page the reply to another.
constexpr std::string_view kVary = "Vary: Origin\r\n";

std::string FieldsThatPermit(std::string_view origin) {
  std::string fields = "Access-Control-Allow-Origin: ";
  fields.append(origin).append("\r\nAccess-Control-Expose-Headers: *\r\n");
  if (origin != kEveryPage) fields.append(kVary);
  return fields;
}

}  // namespace

CorsPolicy::CorsPolicy(const std::vector<std::string>& origins) {
  const bool every = std::find(origins.begin(), origins.end(), kEveryPage) != origins.end();
  if (every) {
    permitted_.push_back({std::string(kEveryPage), FieldsThatPermit(kEveryPage)});
    return;
  }
  for (const std::string& origin : origins) {
    permitted_.push_back({origin, FieldsThatPermit(origin)});
  }
  other_fields_ = kVary;
}

// Browsers write origins in one form, so they are compared byte by byte, as the standard says.
const CorsPolicy::Permitted* CorsPolicy::Find(std::string_view origin) const {
  for (const Permitted& permitted : permitted_) {
    if (permitted.origin == kEveryPage || permitted.origin == origin) return &permitted;
  }
  return nullptr;
}

std::string_view CorsPolicy::FieldsFor(std::string_view origin) const {
  if (origin.empty()) return other_fields_;
  const Permitted* const permitted = Find(origin);
  return permitted == nullptr ? other_fields_ : permitted->fields;
}

void CorsPolicy::AnswerPreflight(std::string_view origin, Reply* reply) const {
  if (Find(origin) == nullptr) {
    return reply->SetError(403, "application/json",
                           "the pages of this origin may not use the server "
                           "(--http-cors-allow-origin)");
  }
  // "*" stands for all fields but Authorization.
  reply->extra_fields =
      "Access-Control-Allow-Methods: GET, POST\r\n"
      "Access-Control-Allow-Headers: *, Authorization\r\n"
      "Access-Control-Max-Age: 7200\r\n";
}

}  // namespace nereid::frontend::http
