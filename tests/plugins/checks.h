// SPDX-License-Identifier: Apache-2.0
// What the plug-ins of the tests return errors with: `return` leaves the function that calls.
#pragma once

#include <string>

#include "triton/core/tritonserver.h"

/// Passes an error on.
#define TRY(call)                                           \
  do {                                                      \
    if (TRITONSERVER_Error* error_ = (call)) return error_; \
  } while (false)

/// An error that says where, if it is not so.
#define EXPECT(condition)                                                                    \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      return TRITONSERVER_ErrorNew(                                                          \
          TRITONSERVER_ERROR_INTERNAL,                                                       \
          (__FILE_NAME__ ":" + std::to_string(__LINE__) + ": not so: " #condition).c_str()); \
    }                                                                                        \
  } while (false)
