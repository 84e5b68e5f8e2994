// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "curl/curl_library.h"
#include "tracing/span_transport.h"

namespace nereid::tracing {

/// Where spans are sent, and how.
struct HttpTarget {
  std::string url;                                                // http or https; used as it is
  std::vector<std::pair<std::string, std::string>> headers = {};  // beside those of OTLP
  std::string certificate_file = {};  // PEM, the authorities to trust; "": those of the system
  long timeout_ms = 10'000;           // of one attempt, from the connection to the answer
};

/// Sends spans with POST over HTTP/1.1 or HTTP/2, by libcurl. Follows the environment variables
/// http_proxy, https_proxy and no_proxy, and no redirections.
class HttpTransport final : public SpanTransport {
 public:
  /// Returns INVALID_ARG if the target cannot be used, UNAVAILABLE without libcurl.
  static base::Result<std::unique_ptr<HttpTransport>> Create(HttpTarget target);
  ~HttpTransport() override;

  TransportReply Send(std::string_view packed) override;
  void Abort() noexcept override;

 private:
  HttpTransport(const curl::CurlLibrary& curl, HttpTarget target)
      : curl_(curl), target_(std::move(target)) {}
  base::Status Prepare();
  CURLcode Perform();
  static size_t TakeBody(char* bytes, size_t size, size_t count, void* body) noexcept;

  const curl::CurlLibrary& curl_;
  const HttpTarget target_;
  CURL* easy_ = nullptr;
  CURLM* multi_ = nullptr;
  curl_slist* headers_ = nullptr;
  std::atomic<bool> aborted_{false};
};

}  // namespace nereid::tracing
