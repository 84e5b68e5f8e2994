// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nereid::fake_gpu {

/// The calls of a library's functions: how many there were, and which of them shall fail.
class Calls {
 public:
  /// Reads the failures from the environment variable of that name.
  explicit Calls(const char* variable);

  /// Counts a call. Returns the error that the call shall return, or 0.
  int Begin(const char* function);
  /// Returns the number of calls of a function.
  long Count(const std::string& function) const;
  /// Replaces the failures, and counts the calls of every function from 0 again.
  void SetFailures(const std::string& text);

  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

 private:
  struct State;
  State* const state_;  // kept until the process ends
};

}  // namespace nereid::fake_gpu
