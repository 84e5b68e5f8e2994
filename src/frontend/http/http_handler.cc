// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/http_handler.h"

#include "base/clock.h"
#include "base/log.h"

namespace nereid::frontend::http {

std::string_view RequestHead::path() const {
  return std::string_view(target).substr(0, target.find('?'));
}

void LogRequest(const RequestHead& head, int error_status) {
  if (!base::Log::Instance().IsEnabled(base::LogLevel::kVerbose)) return;
  // The number is the method's in the library that Triton uses.
  static constexpr int kNumbers[] = {0, 1, 2, 15};  // in the order of Method
  const int method = kNumbers[static_cast<int>(head.method)];
  if (error_status == 0) {
    LOG_VERBOSE(1) << "HTTP request: " << method << " " << head.path();
  } else {
    LOG_VERBOSE(1) << "HTTP error: " << method << " " << head.path() << " - " << error_status;
  }
}

void RequestHead::Clear() {
  method = Method::kOther;
  target.clear();
  inference_header_length.reset();
  content_encoding.clear();
  accept_encoding.clear();
  fields.clear();
  keep_alive = true;
  expects_continue = false;
  timeout_ns.reset();
  bad_timeout.clear();
  deadline_ns = 0;
  is_http_1_0 = false;
}

bool RequestHead::IsTooLate() const {
  return deadline_ns != 0 && base::SteadyClock().NowNs() >= deadline_ns;
}

void Reply::Clear() {
  constexpr size_t kKeptBytes = size_t{64} << 10;
  status = 200;
  content_type = {};
  extra_fields.clear();
  text.ClearAndShrink(kKeptBytes);
  tail.clear();
  owner.reset();
}

void Reply::SetError(int new_status, std::string_view type, std::string_view message) {
  Clear();
  status = new_status;
  content_type = type;
  text << "{\"error\":";
  text.AppendMessage(message) << '}';
}

void Reply::SetTooLate() { SetError(504, "text/plain", "the deadline of the request has passed"); }

std::string_view ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Not Allowed";
    case 413:
      return "Payload Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

}  // namespace nereid::frontend::http
