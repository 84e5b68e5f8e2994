// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include <string>
#include <utility>

#include "framework/catch_exceptions.h"

namespace nereid::pytorch {

using backend::Error;

/// Returns the text of an exception in a form that can be part of a message.
inline std::string PlainText(std::string text) {
  // PyTorch quotes the content of files, which may be any bytes.
  for (char& c : text) {
    if ((c < ' ' && c != '\n') || c == 0x7F || (c & 0x80) != 0) {
      c = '?';
    }
  }
  if (const size_t advice = text.find(". This is an internal miniz error");
      advice != std::string::npos) {
    text.resize(advice);
  }
  while (!text.empty() && text.back() == '\n') {
    text.pop_back();
  }
  return text;
}

/// Calls `action`, which returns an Error, and converts PyTorch's exceptions to errors with `what`
/// before the message. PyTorch's backtraces are left out.
template <typename Action>
Error CatchTorch(const std::string& what, Action&& action) {
  const auto text_of = [](const std::exception& error) {
    const auto* const torch = dynamic_cast<const c10::Error*>(&error);
    return PlainText(torch != nullptr ? torch->what_without_backtrace() : error.what());
  };
  return framework::CatchExceptions(what, text_of, std::forward<Action>(action));
}

}  // namespace nereid::pytorch
