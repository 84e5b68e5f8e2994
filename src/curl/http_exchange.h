// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "curl/curl_handle.h"
#include "curl/http_client.h"

namespace nereid::curl {

/// The settings of a client that every one of its requests has.
struct ExchangeSettings {
  const std::string& certificate_file;
  const std::string& user_agent;
};

/// One request and its response on a handle, which must outlive the object.
class HttpExchange {
 public:
  HttpExchange(const CurlLibrary& curl, CurlHandle& handle, const HttpRequest& request,
               const HttpReceiver& receiver);
  ~HttpExchange();
  HttpExchange(const HttpExchange&) = delete;
  HttpExchange& operator=(const HttpExchange&) = delete;

  /// Sends the request and returns the response, as HttpClient::Send does. May be called once.
  base::Result<HttpResponse> Run(const ExchangeSettings& settings);

 private:
  base::Status Prepare(const ExchangeSettings& settings);
  base::Status PrepareFields();
  void PrepareMethod();
  CURLcode Perform();
  base::Status Failure(CURLcode code) const;
  bool TakeLine(std::string_view line);
  bool TakeBody(std::string_view bytes);
  bool BeginBody();
  bool IsCancelled();
  bool Fail(base::Status status);

  static size_t OnLine(char* bytes, size_t size, size_t count, void* exchange) noexcept;
  static size_t OnBody(char* bytes, size_t size, size_t count, void* exchange) noexcept;

  const CurlLibrary& curl_;
  CurlHandle& handle_;
  const HttpRequest& request_;
  const HttpReceiver& receiver_;
  HttpResponse response_;
  ResponseHead head_;
  ResponseHead trailers_;
  bool body_began_ = false;
  bool cancelled_ = false;
  base::Status status_;  // the first error of a receiver, or of this object
  curl_slist* lines_ = nullptr;
  char error_text_[CURL_ERROR_SIZE] = {};
};

}  // namespace nereid::curl
