// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/s3_endpoint.h"

#include <algorithm>

#include "curl/url_text.h"

namespace nereid::repository::storage {

S3Endpoint AwsEndpoint(const std::string& bucket, const std::string& region) {
  std::string host = "s3." + region + ".amazonaws.com";
  if (region.starts_with("cn-")) host += ".cn";
  const bool in_host = bucket.find('.') == bucket.npos && bucket.find('_') == bucket.npos;
  if (in_host) host = bucket + "." + host;
  return {"https://" + host, host, in_host ? "" : "/" + bucket};
}

base::Result<S3Endpoint> CustomEndpoint(std::string url, const std::string& bucket,
                                        const std::string& origin) {
  while (url.ends_with('/')) url.pop_back();
  const bool tls = url.starts_with("https://");
  std::string authority = url.substr(std::min(url.size(), size_t{tls ? 8u : 7u}));
  if ((!tls && !url.starts_with("http://")) || authority.empty() ||
      authority.find_first_of("/?#@ \t\r\n") != authority.npos) {
    return base::Status::InvalidArgument("the URL '" + curl::UrlForMessages(url) + "' " + origin +
                                         " is not of the form https://HOST:PORT");
  }
  // HTTP clients leave out the port that the scheme has anyway, and the signature covers the field.
  const std::string default_port = tls ? ":443" : ":80";
  if (authority.ends_with(default_port)) {
    authority.resize(authority.size() - default_port.size());
  }
  return S3Endpoint{(tls ? "https://" : "http://") + authority, authority, "/" + bucket};
}

bool IsRegion(std::string_view text) {
  return !text.empty() && text.size() <= 32 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

}  // namespace nereid::repository::storage
