// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "base/status.h"
#include "triton/core/tritonserver.h"

namespace nereid::abi {

// The opaque TRITONSERVER_Error is a pointer to a base::Status that is a failure, with a flag in
// its lowest bit. Only the functions of this header and the TRITONSERVER_Error* functions use this.

/// Converts a Status to a C error object, which the receiver deletes. Returns nullptr for success.
TRITONSERVER_Error* ToError(const base::Status& status);

/// Returns `status` as a C error object that still belongs to its owner and is valid as long as
/// `status`. TRITONSERVER_ErrorDelete ignores such an object, because some plug-ins delete errors
/// that the API only lends (the Python backend deletes the error of a response). Returns nullptr
/// for success.
TRITONSERVER_Error* BorrowError(const base::Status& status);

/// Converts a C error object to a Status; nullptr becomes success. Does not delete `error`.
base::Status ToStatus(TRITONSERVER_Error* error);

/// Does the same and deletes `error`.
base::Status TakeStatus(TRITONSERVER_Error* error);

base::StatusCode ToStatusCode(TRITONSERVER_Error_Code code);
TRITONSERVER_Error_Code ToErrorCode(base::StatusCode code);

/// Returns INVALID_ARG with the names of the function and of the argument that is NULL: the one at
/// `index` in `arguments`, the text of a list of names ("server, model_name").
TRITONSERVER_Error* NullArgument(const char* function, const char* arguments, size_t index);

/// For NEREID_CHECK_NOT_NULL. Returns nullptr if no pointer is null. Allocates nothing then.
template <typename... Pointers>
inline TRITONSERVER_Error* CheckNotNull(const char* function, const char* arguments,
                                        Pointers... pointers) {
  if (((pointers != nullptr) && ...)) [[likely]] {
    return nullptr;
  }
  size_t index = 0;
  (void)((pointers != nullptr && (++index, true)) && ...);
  return NullArgument(function, arguments, index);
}

/// Returns UNSUPPORTED with the name of the missing feature. docs/developer/c_api.md lists these
/// functions.
TRITONSERVER_Error* MissingFeature(const char* function, const char* feature);

/// Returns UNAVAILABLE "out of memory". Allocates nothing.
TRITONSERVER_Error* OutOfMemory() noexcept;

/// Returns INTERNAL with the exception's text.
TRITONSERVER_Error* UnexpectedException(const char* what) noexcept;

/// Returns INVALID_ARG for an index that is outside a list of `count` objects. `what` names them in
/// the plural.
inline base::Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return base::Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                       ": there are " + std::to_string(count) + " " + what);
}

/// Runs `body` (a function that returns a Status) for a C function, and converts every exception to
/// a C error.
template <typename Body>
TRITONSERVER_Error* Guard(Body&& body) noexcept {
  try {
    return ToError(body());
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& exception) {
    return UnexpectedException(exception.what());
  } catch (...) {
    return UnexpectedException("of unknown type");
  }
}

}  // namespace nereid::abi

/// Returns INVALID_ARG from the enclosing C function if one of the arguments, which are pointers,
/// is NULL; the message names the first of them.
#define NEREID_CHECK_NOT_NULL(...)                                              \
  do {                                                                          \
    if (TRITONSERVER_Error* nereid_error =                                      \
            ::nereid::abi::CheckNotNull(__func__, #__VA_ARGS__, __VA_ARGS__)) { \
      return nereid_error;                                                      \
    }                                                                           \
  } while (false)
