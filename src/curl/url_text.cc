// SPDX-License-Identifier: Apache-2.0
#include "curl/url_text.h"

#include <algorithm>
#include <utility>

namespace nereid::curl {

std::string UrlWithoutUser(std::string url) {
  const size_t scheme = url.find("://");
  const size_t host = scheme == url.npos ? 0 : scheme + 3;
  const size_t end = std::min(url.find_first_of("/?#", host), url.size());
  const size_t at = url.substr(0, end).rfind('@');
  if (at != url.npos && at >= host) url.erase(host, at + 1 - host);
  return url;
}

std::string UrlForMessages(std::string url) {
  url = UrlWithoutUser(std::move(url));
  url.resize(std::min(url.find_first_of("?#"), url.size()));
  return url;
}

}  // namespace nereid::curl
