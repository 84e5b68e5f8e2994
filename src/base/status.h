// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace nereid::base {

/// The kinds of failure in the inference protocols. Each value is that of TRITONSERVER_Error_Code
/// plus 1, so that 0 can mean success.
enum class StatusCode {
  kOk = 0,
  kUnknown = 1,
  kInternal = 2,
  kNotFound = 3,
  kInvalidArgument = 4,
  kUnavailable = 5,
  kUnsupported = 6,
  kAlreadyExists = 7,
  kCancelled = 8,
};

/// Returns the text that logs and the repository index show for a code: "Invalid argument", "Not
/// found" and so on; "OK" for kOk.
std::string_view StatusCodeText(StatusCode code);

/// Success, or an error code with a message for the person who can correct the cause. The message
/// names the model, input, field or flag, the value that was found and what was expected.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  static Status Ok() { return {}; }
  static Status Unknown(std::string message) { return {StatusCode::kUnknown, std::move(message)}; }
  static Status Internal(std::string message) {
    return {StatusCode::kInternal, std::move(message)};
  }
  static Status NotFound(std::string message) {
    return {StatusCode::kNotFound, std::move(message)};
  }
  static Status InvalidArgument(std::string message) {
    return {StatusCode::kInvalidArgument, std::move(message)};
  }
  static Status Unavailable(std::string message) {
    return {StatusCode::kUnavailable, std::move(message)};
  }
  static Status Unsupported(std::string message) {
    return {StatusCode::kUnsupported, std::move(message)};
  }
  static Status AlreadyExists(std::string message) {
    return {StatusCode::kAlreadyExists, std::move(message)};
  }
  static Status Cancelled(std::string message) {
    return {StatusCode::kCancelled, std::move(message)};
  }

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  /// Returns the same failure with `prefix` before its message. Success stays success.
  Status WithPrefix(std::string_view prefix) const;

  /// Returns "<code text>: <message>", the form that the repository index shows; "OK" for success.
  std::string ToString() const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

}  // namespace nereid::base

/// Returns from the enclosing function if `expression` (a Status) is a failure.
#define NEREID_RETURN_IF_ERROR(expression)                \
  do {                                                    \
    ::nereid::base::Status nereid_status_ = (expression); \
    if (!nereid_status_.ok()) return nereid_status_;      \
  } while (false)
