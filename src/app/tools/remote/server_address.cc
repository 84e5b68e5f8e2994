// SPDX-License-Identifier: Apache-2.0
#include "app/tools/remote/server_address.h"

#include <algorithm>

namespace nereid::app::tools {
namespace {

constexpr std::string_view kUnixPrefix = "unix:";

/// Returns whether a URL may contain the character: visible ASCII.
bool IsVisible(char c) { return c > ' ' && c < 0x7f; }

base::Status Wrong(std::string_view text) {
  return base::Status::InvalidArgument(
      "'" + std::string(text) +
      "' is not the address of a server, expected http://<host>:<port>, https://<host>:<port> or "
      "unix:<path>");
}

/// Returns whether the authority "host", "host:port" or "[v6]:port" has a port.
bool HasPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == authority.npos) return false;
  const size_t bracket = authority.rfind(']');
  return bracket == authority.npos || colon > bracket;
}

}  // namespace

base::Result<ServerAddress> ParseServerUrl(std::string_view text) {
  if (text.starts_with(kUnixPrefix)) {
    const std::string_view path = text.substr(kUnixPrefix.size());
    if (path.empty() || path.find('\0') != path.npos) return Wrong(text);
    return ServerAddress{"http://localhost", std::string(path)};
  }
  if (text.empty() || !std::all_of(text.begin(), text.end(), IsVisible) ||
      text.find_first_of("?#") != text.npos) {
    return Wrong(text);
  }
  std::string url(text);
  const size_t scheme_end = url.find("://");
  if (scheme_end == url.npos) {
    if (url.find('/') != url.npos) return Wrong(text);
    url = "http://" + url + (HasPort(url) ? "" : ":8000");
  } else if (!url.starts_with("http://") && !url.starts_with("https://")) {
    return Wrong(text);
  }
  while (url.ends_with('/')) url.pop_back();
  const size_t host = url.find("://");
  if (host == url.npos || host + 3 == url.size() || url[host + 3] == '/') return Wrong(text);
  return ServerAddress{std::move(url)};
}

bool IsGrpcUrl(std::string_view text) {
  return text.starts_with("grpc://") || text.starts_with("grpcs://");
}

base::Result<ServerAddress> ParseGrpcUrl(std::string_view text) {
  const size_t scheme_end = text.find("://");
  const std::string_view authority = scheme_end == text.npos ? "" : text.substr(scheme_end + 3);
  if (!IsGrpcUrl(text) || authority.empty() || authority.find_first_of("/?#@") != authority.npos ||
      !std::all_of(authority.begin(), authority.end(), IsVisible)) {
    return base::Status::InvalidArgument(
        "'" + std::string(text) +
        "' is not the address of a gRPC server, expected grpc://<host>:<port> or "
        "grpcs://<host>:<port>");
  }
  return ServerAddress{(text.starts_with("grpcs") ? "https://" : "http://") +
                           std::string(authority) + (HasPort(authority) ? "" : ":8001"),
                       "", /*http2=*/true};
}

bool IsPathSegment(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::all_of(name.begin(), name.end(), IsVisible) &&
         name.find_first_of("/?#%\\") == name.npos;
}

}  // namespace nereid::app::tools
