// SPDX-License-Identifier: Apache-2.0
// A browser sends requests to the console for any page that its user visits. This is decided before
// the roles are: which of these requests come from the console's own page.
#pragma once

#include <string>
#include <string_view>

namespace nereid::console {

/// The fields of a request by which its page is known; empty: the request lacks the field.
struct PageFields {
  std::string_view host;    // or :authority of HTTP/2
  std::string_view origin;  // the page whose script sends the request
};

/// Returns why a request is refused, or "".
///
/// - A script of another page (CSRF): its origin is not that of `host`.
/// - Without `is_guarded`, a name that belongs to somebody else may lead here (DNS rebinding), and
///   its page has the same origin. So the host must be an IP address or localhost. With
///   `is_guarded` callers have tokens, which a browser gives to no other origin.
std::string WhyPageIsRefused(const PageFields& fields, bool is_guarded);

}  // namespace nereid::console
