// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::openvino {

using backend::Error;

/// Returns the last line of a text that is not empty. OpenVINO's messages begin with positions in
/// its source, one on each line, and the last line is the reason.
std::string LastLine(const std::string& text);

/// Calls `action`, which returns an Error, and converts exceptions to errors with `what` before the
/// message.
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
