// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

namespace nereid::base {

std::string_view StatusCodeText(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "OK";
    case StatusCode::kUnknown:
      return "Unknown";
    case StatusCode::kInternal:
      return "Internal";
    case StatusCode::kNotFound:
      return "Not found";
    case StatusCode::kInvalidArgument:
      return "Invalid argument";
    case StatusCode::kUnavailable:
      return "Unavailable";
    case StatusCode::kUnsupported:
      return "Unsupported";
    case StatusCode::kAlreadyExists:
      return "Already exists";
    case StatusCode::kCancelled:
      return "Cancelled";
  }
  return "Unknown";
}

Status Status::WithPrefix(std::string_view prefix) const {
  if (ok()) return *this;
  return {code_, std::string(prefix) + message_};
}

std::string Status::ToString() const {
  std::string text(StatusCodeText(code_));
  if (!ok()) text.append(": ").append(message_);
  return text;
}

}  // namespace nereid::base
