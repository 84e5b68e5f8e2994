// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/request_head.h"

#include "api/timeout_text.h"

namespace nereid::frontend::grpc {
namespace {

constexpr size_t kHeaderOverhead = 32;
constexpr size_t kMaxPath = 1024;
constexpr size_t kMaxShownEncoding = 64;
// Of grpc-accept-encoding: all known names fit.
constexpr size_t kMaxReadEncodings = 256;

// Accepts "application/grpc", alone or with a suffix ("+proto") or parameters.
bool IsGrpcContentType(std::string_view value) {
  constexpr std::string_view kType = "application/grpc";
  if (!value.starts_with(kType)) return false;
  return value.size() == kType.size() || value[kType.size()] == '+' || value[kType.size()] == ';';
}

// Returns whether a header belongs to HTTP/2 or to gRPC itself: it is no metadata.
bool IsOfTheProtocol(std::string_view name) {
  return name.starts_with(':') || name.starts_with("grpc-") || name == "content-type" ||
         name == "te";
}

}  // namespace

void RequestHead::Clear() {
  path.clear();
  is_post = is_grpc = false;
  timeout_ns.reset();
  bad_timeout = false;
  encoding = Encoding::kIdentity;
  unknown_encoding.clear();
  accepted = Encoding::kIdentity;
  stream_errors_end_call = false;
  trace.Clear();
  fields.clear();
  has_too_many_fields = false;
  size = 0;
}

void RequestHead::Add(std::string_view name, std::string_view value, size_t limit,
                      const api::FieldFilter* kept) {
  size += name.size() + value.size() + kHeaderOverhead;
  if (size > limit) return;
  if (name == ":path") {
    path = value.substr(0, kMaxPath);
  } else if (name == ":method") {
    is_post = value == "POST";
  } else if (name == "content-type") {
    is_grpc = IsGrpcContentType(value);
  } else if (name == "grpc-timeout") {
    timeout_ns = api::ParseGrpcTimeout(value);
    bad_timeout = !timeout_ns.has_value();
  } else if (name == "grpc-encoding") {
    encoding = FindEncoding(value);
    if (!encoding.has_value()) unknown_encoding = value.substr(0, kMaxShownEncoding);
  } else if (name == "grpc-accept-encoding") {
    accepted = ChooseEncoding(value.substr(0, kMaxReadEncodings));
  } else if (name == "triton_grpc_error") {
    stream_errors_end_call = value == "true";
  } else if (name.starts_with("trace")) {
    trace.Add(name, value);
  }
  if (kept == nullptr || IsOfTheProtocol(name)) return;
  has_too_many_fields |= !kept->Take(name, value, &fields);
}

}  // namespace nereid::frontend::grpc
