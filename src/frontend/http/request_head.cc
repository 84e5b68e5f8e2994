// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_head.h"

#include "base/clock.h"
#include "base/log.h"

namespace nereid::frontend::http {

bool RequestHead::IsTooLate() const {
  return deadline_ns != 0 && base::SteadyClock().NowNs() >= deadline_ns;
}

void RequestHead::Clear() {
  method = Method::kOther;
  target.clear();
  decoded_path.Clear();
  inference_header_length.reset();
  json_size_in_type = false;
  content_encoding.clear();
  accept_encoding.clear();
  origin.clear();
  accept.clear();
  fields.clear();
  asks_for_method = false;
  wants_timing = false;
  trace.Clear();
  keep_alive = true;
  expects_continue = false;
  timeout_ns.reset();
  bad_timeout.clear();
  deadline_ns = 0;
  is_http_1_0 = false;
}

std::string AllowField(std::span<const Method> methods) {
  std::string field = "Allow: ";
  for (size_t i = 0; i < methods.size(); ++i) {
    field.append(i == 0 ? "" : ", ").append(MethodName(methods[i]));
  }
  return field + "\r\n";
}

std::string_view MethodName(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kOther:
      return "OTHER";
  }
  return "OTHER";
}

void LogRequest(const RequestHead& head, int error_status, std::string_view service) {
  if (!base::Log::Instance().IsEnabled(base::LogLevel::kVerbose)) return;
  // Triton logs the number that its HTTP library (libevhtp) gives to the method.
  static constexpr int kNumbers[] = {0, 1, 2, 3, 4, 8, 15};  // in the order of Method
  const int method = kNumbers[static_cast<int>(head.method)];
  if (error_status == 0) {
    LOG_VERBOSE(1) << service << " request: " << method << " " << head.path().text();
  } else {
    LOG_VERBOSE(1) << service << " error: " << method << " " << head.path().text() << " - "
                   << error_status;
  }
}

}  // namespace nereid::frontend::http
