// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/http/reply.h"

namespace nereid::frontend::http {

/// Which web pages may use the server (the CORS protocol of the Fetch standard). A browser lets a
/// script read a reply only if the reply permits the origin of the script's page. Immutable.
class CorsPolicy {
 public:
  /// Permits the pages of these origins ("https://example.org"); "*" permits every page.
  explicit CorsPolicy(const std::vector<std::string>& origins);

  /// Returns the fields for each reply to a request with this field Origin (empty: without one), as
  /// whole lines. The view is valid as long as the policy.
  std::string_view FieldsFor(std::string_view origin) const;

  /// Fills the reply to a preflight request, by which a browser asks whether a script may send its
  /// request.
  void AnswerPreflight(std::string_view origin, Reply* reply) const;

 private:
  struct Permitted {
    std::string origin;
    std::string fields;
  };
  const Permitted* Find(std::string_view origin) const;

  std::vector<Permitted> permitted_;
  std::string other_fields_;  // for all other pages
};

}  // namespace nereid::frontend::http
