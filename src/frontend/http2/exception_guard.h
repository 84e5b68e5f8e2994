// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string_view>

namespace nereid::frontend::http2 {

/// Logs that `where` ("gRPC: a call") has ended by an exception, now and then, not every time.
void LogException(std::string_view where, std::string_view what) noexcept;

/// Runs `body` and returns its result. An exception, usually for lack of memory, ends here: it is
/// logged, and `failed` is the result. For functions that event loops and C libraries call.
template <typename Result, typename Body>
Result Guarded(std::string_view where, Result failed, const Body& body) noexcept {
  try {
    return body();
  } catch (const std::exception& error) {
    LogException(where, error.what());
  } catch (...) {
    LogException(where, "unknown");
  }
  return failed;
}

}  // namespace nereid::frontend::http2
