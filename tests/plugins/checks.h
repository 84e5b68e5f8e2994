// SPDX-License-Identifier: Apache-2.0
// Macros with which the test plug-ins return errors. They return from the enclosing function.
#pragma once

#include <string>

#include "triton/core/tritonserver.h"

/// Returns an error of `call`.
#define TRY(call)                                           \
  do {                                                      \
    if (TRITONSERVER_Error* error_ = (call)) return error_; \
  } while (false)

/// Returns an error with the position if the condition is false.
#define EXPECT(condition)                                                                    \
  do {                                                                                       \
    if (!(condition)) {                                                                      \
      return TRITONSERVER_ErrorNew(                                                          \
          TRITONSERVER_ERROR_INTERNAL,                                                       \
          (__FILE_NAME__ ":" + std::to_string(__LINE__) + ": not so: " #condition).c_str()); \
    }                                                                                        \
  } while (false)
