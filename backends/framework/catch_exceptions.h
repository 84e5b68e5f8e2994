// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <new>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::framework {

/// Calls `action`, which returns an Error, and converts a framework's exceptions to errors with
/// `what` before the message. `text_of` returns the message of an exception.
template <typename TextOf, typename Action>
backend::Error CatchExceptions(const std::string& what, TextOf&& text_of, Action&& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return {TRITONSERVER_ERROR_UNAVAILABLE, what + ": memory ran out"};
  } catch (const std::exception& error) {
    return backend::Error::Internal(what + ": " + text_of(error));
  } catch (...) {
    return backend::Error::Internal(what);
  }
}

}  // namespace nereid::framework
