// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "curl/http_message.h"
#include "repository/storage/credential_cache.h"
#include "repository/storage/store_context.h"
#include "repository/storage/url_encode.h"

namespace nereid::repository::storage {

/// A token of OAuth 2.0 that is sent with each request; empty: requests are sent without one.
struct BearerToken {
  std::string text = {};
  bool operator==(const BearerToken&) const = default;
};

using BearerCredential = Credential<BearerToken>;

/// Returns a request that sends a form to a token server (RFC 6749, section 4).
curl::HttpRequest TokenForm(const std::string& url, const Parameters& form);

/// Sends a request for a token and reads the answer: access_token, and expires_in in seconds, as a
/// number or a text. INVALID_ARG if the server refuses, UNAVAILABLE if it may succeed later.
/// `source` is for messages; the request's secrets are in none.
base::Result<BearerCredential> FetchToken(const StoreContext& context,
                                          const curl::HttpRequest& request,
                                          const std::string& source);

}  // namespace nereid::repository::storage
