// SPDX-License-Identifier: Apache-2.0
#include "curl/curl_client.h"

#include <unistd.h>

#include "curl/http_exchange.h"

namespace nereid::curl {

using base::Status;

base::Result<std::unique_ptr<CurlClient>> CurlClient::Create(CurlClientSettings settings) {
  const std::string& file = settings.certificate_file;
  if (!file.empty() && ::access(file.c_str(), R_OK) != 0) {
    return Status::InvalidArgument("the file '" + file +
                                   "' with the certificates to trust cannot be read");
  }
  NEREID_ASSIGN_OR_RETURN(const CurlLibrary* const curl, CurlLibrary::Open());
  return std::unique_ptr<CurlClient>(new CurlClient(*curl, std::move(settings)));
}

base::Result<HttpResponse> CurlClient::Send(const HttpRequest& request,
                                            const HttpReceiver& receiver) {
  NEREID_RETURN_IF_ERROR(CheckRequest(request));
  std::unique_ptr<CurlHandle> handle = TakeHandle();
  if (handle == nullptr) return Status::Unavailable("libcurl cannot start: out of memory");
  base::Result<HttpResponse> result = [&] {
    HttpExchange exchange(curl_, *handle, request, receiver);
    return exchange.Run({settings_.certificate_file, settings_.user_agent});
  }();
  KeepHandle(std::move(handle));
  return result;
}

std::unique_ptr<CurlHandle> CurlClient::TakeHandle() {
  {
    base::MutexLock lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<CurlHandle> handle = std::move(idle_.back());
      idle_.pop_back();
      return handle;
    }
  }
  return CurlHandle::Create(curl_);
}

void CurlClient::KeepHandle(std::unique_ptr<CurlHandle> handle) {
  base::MutexLock lock(mutex_);
  if (idle_.size() < settings_.max_idle_handles) idle_.push_back(std::move(handle));
}

}  // namespace nereid::curl
