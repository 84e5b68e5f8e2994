// SPDX-License-Identifier: Apache-2.0
#include "curl/curl_handle.h"

namespace nereid::curl {

CurlHandle::CurlHandle(const CurlLibrary& curl)
    : curl_(curl), easy_(curl.easy_init()), multi_(curl.multi_init()) {}

CurlHandle::~CurlHandle() {
  if (easy_ != nullptr) curl_.easy_cleanup(easy_);
  if (multi_ != nullptr) curl_.multi_cleanup(multi_);
}

std::unique_ptr<CurlHandle> CurlHandle::Create(const CurlLibrary& curl) {
  std::unique_ptr<CurlHandle> handle(new CurlHandle(curl));
  if (handle->easy_ == nullptr || handle->multi_ == nullptr) return nullptr;
  return handle;
}

}  // namespace nereid::curl
