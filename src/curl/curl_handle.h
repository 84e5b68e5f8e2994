// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "curl/curl_library.h"

namespace nereid::curl {

/// A transfer of libcurl, with the connections that earlier transfers of this handle left open.
/// Used by one thread at a time.
class CurlHandle {
 public:
  /// Returns null if libcurl has no memory.
  static std::unique_ptr<CurlHandle> Create(const CurlLibrary& curl);
  ~CurlHandle();
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;

  CURL* easy() { return easy_; }
  CURLM* multi() { return multi_; }

 private:
  explicit CurlHandle(const CurlLibrary& curl);
  const CurlLibrary& curl_;
  CURL* easy_;
  CURLM* multi_;
};

}  // namespace nereid::curl
