// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

#include "nereid/backend/error.h"

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
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return Error(TRITONSERVER_ERROR_UNAVAILABLE, what + ": memory ran out");
  } catch (const c10::Error& error) {
    return Error::Internal(what + ": " + PlainText(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    return Error::Internal(what + ": " + PlainText(error.what()));
  }
}

}  // namespace nereid::pytorch
