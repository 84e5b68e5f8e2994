// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace nereid::app::tools {

/// A terminal with a keyboard, on stdin and stdout.
class Terminal {
 public:
  virtual ~Terminal() = default;

  struct Size {
    size_t columns = 0, lines = 0;
  };
  /// Returns the present size.
  virtual Size GetSize() const = 0;
  /// Shows an empty second screen and gives keys without waiting for a line, until Leave(). A
  /// signal that ends the program counts as the key 'q'.
  virtual void Enter() = 0;
  virtual void Leave() = 0;
  /// Waits for a key; returns nothing if the time is over, and 'q' if the terminal is gone or
  /// Ctrl-C was pressed.
  virtual std::optional<char> WaitForKey(std::chrono::milliseconds time) = 0;
};

}  // namespace nereid::app::tools
