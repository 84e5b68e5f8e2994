// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/util/Exception.h>

#include <exception>
#include <new>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// An exception's text, fit for a message.
inline std::string PlainText(std::string text) {
  // PyTorch quotes what it found in a file, whatever the bytes are.
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

/// PyTorch says what failed in exceptions: calls `action`, which returns an Error, and makes one of
/// what it throws, beginning with `what`. The traces of PyTorch's own source are left out.
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
