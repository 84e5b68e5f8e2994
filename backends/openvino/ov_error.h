// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::openvino {

using backend::Error;

/// OpenVINO puts the places in its own source before what it says, a line each; the last line that
/// is not empty says what failed.
std::string LastLine(const std::string& text);

/// Calls `action`, which returns an Error, and makes one of what it throws, beginning with `what`.
template <typename Action>
Error CatchOpenVino(const std::string& what, Action&& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, what + ": memory ran out");
  } catch (const std::exception& error) {
    return Error::Internal(what + ": " + LastLine(error.what()));
  } catch (...) {
    return Error::Internal(what);
  }
}

}  // namespace nereid::openvino
