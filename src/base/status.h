// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace nereid::base {

/// The kinds of failure that the inference protocols know. The values equal
/// TRITONSERVER_Error_Code + 1, so that zero can stand for success.
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

/// "Invalid argument", "Not found", …: the words that logs and the repository index use.
/// "OK" for kOk.
std::string_view StatusCodeText(StatusCode code);

/// Success, or a code with a message for the person who can mend it. The message names the model,
/// the input, the field or the flag, the value found and what was expected.
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

  /// The same failure with `prefix` before its message; success stays success.
  Status WithPrefix(std::string_view prefix) const;

  /// "<code text>: <message>", the form that the repository index shows; "OK" for success.
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
