// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "framework/catch_exceptions.h"

namespace nereid::openvino {

using backend::Error;

/// Returns the last line of a text that is not empty. OpenVINO's messages begin with positions in
/// its source, one on each line, and the last line is the reason.
std::string LastLine(const std::string& text);

/// Calls `action`, which returns an Error, and converts exceptions to errors with `what` before the
/// message.
template <typename Action>
Error CatchOpenVino(const std::string& what, Action&& action) {
  const auto text_of = [](const std::exception& error) { return LastLine(error.what()); };
  return framework::CatchExceptions(what, text_of, std::forward<Action>(action));
}

}  // namespace nereid::openvino
