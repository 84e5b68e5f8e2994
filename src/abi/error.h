// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <new>
#include <string>

#include "base/status.h"
#include "triton/core/tritonserver.h"

namespace nereid::abi {

// Behind the opaque TRITONSERVER_Error stands a base::Status that is a failure; functions of this
// header and the C functions alone know how.

/// A Status as a C error object that the receiver deletes; nullptr for success.
TRITONSERVER_Error* ToError(const base::Status& status);

/// The failure that `status` is, lent: it dies with `status`, and deleting it does nothing, for
/// there are plug-ins that delete what the API only lends (the Python backend, the error of a
/// response). nullptr for success.
TRITONSERVER_Error* BorrowError(const base::Status& status);

/// The failure that a C error says; success for nullptr. `error` is only read.
base::Status ToStatus(TRITONSERVER_Error* error);

/// The same, and deletes `error`.
base::Status TakeStatus(TRITONSERVER_Error* error);

base::StatusCode ToStatusCode(TRITONSERVER_Error_Code code);
TRITONSERVER_Error_Code ToErrorCode(base::StatusCode code);

/// INVALID_ARG naming the null argument.
TRITONSERVER_Error* NullArgument(const char* function, const char* argument);

/// UNSUPPORTED naming the feature that a later version brings, as docs/developer/c_api.md lists it.
TRITONSERVER_Error* MissingFeature(const char* function, const char* feature);

/// UNAVAILABLE "out of memory". Takes no memory itself.
TRITONSERVER_Error* OutOfMemory() noexcept;

/// INTERNAL with the exception's text.
TRITONSERVER_Error* UnexpectedException(const char* what) noexcept;

/// INVALID_ARGUMENT for an index that a list of `count` things, named `what`, does not have.
inline base::Status OutOfBounds(uint32_t index, size_t count, const char* what) {
  return base::Status::InvalidArgument("out of bounds index " + std::to_string(index) +
                                       ": there are " + std::to_string(count) + " " + what);
}

/// Runs the body (a function that returns a Status) of a C function: no exception leaves it.
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

/// Returns INVALID_ARG from the enclosing C function if the argument `pointer` is NULL.
#define NEREID_CHECK_NOT_NULL(pointer)                                                \
  do {                                                                                \
    if ((pointer) == nullptr) return ::nereid::abi::NullArgument(__func__, #pointer); \
  } while (false)
