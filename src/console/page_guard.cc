// SPDX-License-Identifier: Apache-2.0
#include "console/page_guard.h"

#include "base/ascii_case.h"
#include "base/utf8.h"

namespace nereid::console {
namespace {

/// Returns the host without its port. IPv6 addresses keep their brackets.
std::string_view NameOf(std::string_view host) {
  const size_t end = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  if (end != std::string_view::npos) return host.substr(0, end + 1);
  return host.substr(0, host.find(':'));
}

bool IsAddress(std::string_view name) {
  if (name.starts_with('[')) return name.ends_with(']');
  // A name's last label is never a number (RFC 1123, section 2.1), so this need not be exact.
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Returns the part of an origin behind its scheme; "" for another scheme, and for "null".
std::string_view HostOfOrigin(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return {};
}

std::string Shown(std::string_view text) {
  constexpr size_t kMaxShown = 200;
  return "'" + base::ReplaceInvalidUtf8(text.substr(0, kMaxShown)) + "'";
}

}  // namespace

std::string WhyPageIsRefused(const PageFields& fields, bool is_guarded) {
  if (!fields.origin.empty() &&
      !base::EqualsIgnoringCase(HostOfOrigin(fields.origin), fields.host)) {
    return "the console answers its own pages only, not those of the origin " +
           Shown(fields.origin);
  }
  const std::string_view name = NameOf(fields.host);
  if (is_guarded || name.empty() || IsAddress(name) ||
      base::EqualsIgnoringCase(name, "localhost")) {
    return {};
  }
  return "without --auth-file the console answers requests for an IP address or localhost only, "
         "not for the name " +
         Shown(name) + ": use the server's address, or give callers roles with --auth-file";
}

}  // namespace nereid::console
