// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "curl/curl_handle.h"
#include "curl/http_client.h"

namespace nereid::curl {

struct CurlClientSettings {
  /// PEM, the authorities to trust; empty: those of the system.
  std::string certificate_file = {};
  std::string user_agent = "nereid";
  /// Connections that wait for their next request are kept for this many parallel callers.
  size_t max_idle_handles = 16;
};

/// The HTTP client by libcurl, over HTTP/1.1. Verifies certificates and names of https servers.
/// Follows the environment variables http_proxy, https_proxy and no_proxy. Keeps connections.
class CurlClient final : public HttpClient {
 public:
  /// Opens libcurl; UNAVAILABLE without it, INVALID_ARG if the certificate file cannot be read.
  static base::Result<std::unique_ptr<CurlClient>> Create(CurlClientSettings settings = {});

  using HttpClient::Send;
  base::Result<HttpResponse> Send(const HttpRequest& request,
                                  const HttpReceiver& receiver) override;

 private:
  CurlClient(const CurlLibrary& curl, CurlClientSettings settings)
      : curl_(curl), settings_(std::move(settings)) {}
  std::unique_ptr<CurlHandle> TakeHandle();
  void KeepHandle(std::unique_ptr<CurlHandle> handle);

  const CurlLibrary& curl_;
  const CurlClientSettings settings_;
  base::Mutex mutex_;
  std::vector<std::unique_ptr<CurlHandle>> idle_ NEREID_GUARDED_BY(mutex_);
};

}  // namespace nereid::curl
