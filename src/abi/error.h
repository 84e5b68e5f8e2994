// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>

#include "base/status.h"
#include "triton/core/tritonserver.h"

namespace nereid::abi {

/// A Status as a C error object that the receiver deletes; nullptr for success.
TRITONSERVER_Error* ToError(const base::Status& status);

/// The failure that a C error says; success for nullptr. `error` is only read.
base::Status ToStatus(TRITONSERVER_Error* error);

/// The same, and deletes `error`.
base::Status TakeStatus(TRITONSERVER_Error* error);

base::StatusCode ToStatusCode(TRITONSERVER_Error_Code code);
TRITONSERVER_Error_Code ToErrorCode(base::StatusCode code);

/// INVALID_ARG naming the null argument.
TRITONSERVER_Error* NullArgument(const char* function, const char* argument);

/// Runs the body of a C function: no exception leaves it.
template <typename Body>
TRITONSERVER_Error* Guard(Body&& body) noexcept {
  try {
    return ToError(body());
  } catch (const std::bad_alloc&) {
    return ToError(base::Status::Unavailable("out of memory"));
  } catch (const std::exception& exception) {
    return ToError(base::Status::Internal(std::string("unexpected exception: ") + exception.what()));
  }
}

}  // namespace nereid::abi
