// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "triton/core/tritonserver.h"

namespace nereid::backend {

/// Success, or an owned TRITONSERVER_Error. Functions of the kit return it by value; entry points
/// pass it to the server with Release().
class [[nodiscard]] Error {
 public:
  Error() = default;
  /// Takes ownership of the result of a C function; null means success.
  explicit Error(TRITONSERVER_Error* error) : error_(error) {}
  Error(TRITONSERVER_Error_Code code, const std::string& message)
      : error_(TRITONSERVER_ErrorNew(code, message.c_str())) {}
  Error(Error&& other) noexcept : error_(other.Release()) {}
  Error& operator=(Error&& other) noexcept {
    if (this != &other) {
      Reset(other.Release());
    }
    return *this;
  }
  ~Error() { Reset(nullptr); }

  static Error InvalidArgument(const std::string& message) {
    return {TRITONSERVER_ERROR_INVALID_ARG, message};
  }
  static Error Internal(const std::string& message) {
    return {TRITONSERVER_ERROR_INTERNAL, message};
  }
  static Error Unsupported(const std::string& message) {
    return {TRITONSERVER_ERROR_UNSUPPORTED, message};
  }

  bool ok() const { return error_ == nullptr; }
  /// Returns the error, which this object still owns; null for success.
  TRITONSERVER_Error* get() const { return error_; }
  /// Returns the message; empty for success.
  std::string message() const { return ok() ? "" : TRITONSERVER_ErrorMessage(error_); }
  /// Transfers the error to the caller. This object is a success afterwards.
  TRITONSERVER_Error* Release() { return std::exchange(error_, nullptr); }

 private:
  void Reset(TRITONSERVER_Error* next) {
    if (error_ != nullptr) {
      TRITONSERVER_ErrorDelete(error_);
    }
    error_ = next;
  }

  TRITONSERVER_Error* error_ = nullptr;
};

/// Runs `body`, which returns an Error, and converts exceptions to errors.
template <typename Body>
Error Catching(Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "out of memory"));
  } catch (const std::exception& exception) {
    return Error(TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, exception.what()));
  } catch (...) {
    return Error(
        TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "an exception of unknown type"));
  }
}

/// Runs the body of an entry point. No exception leaves it.
template <typename Body>
TRITONSERVER_Error* EntryPoint(Body&& body) noexcept {
  return Catching(std::forward<Body>(body)).Release();
}

}  // namespace nereid::backend

/// Returns from the enclosing function, which must return Error, if `expression` (an Error or a
/// TRITONSERVER_Error*) is a failure.
#define NEREID_BACKEND_TRY(expression)                               \
  do {                                                               \
    if (::nereid::backend::Error tried_{expression}; !tried_.ok()) { \
      return tried_;                                                 \
    }                                                                \
  } while (false)
