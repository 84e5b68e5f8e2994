// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string_view>

namespace nereid::frontend::grpc {

/// Writes one line to the log for an exception that something on an event loop or a backend's
/// thread ran into, at most one a second.
void LogException(std::string_view where, std::string_view what) noexcept;

/// Runs `body` and gives what it returns. An exception (out of memory, as a rule) ends here: it is
/// logged, and `failed` is the result. For the places that event loops and C libraries enter by.
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

}  // namespace nereid::frontend::grpc
