// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <termios.h>

#include "app/tools/terminal.h"

namespace nereid::app {

/// The terminal of the process. One object at a time.
class ProcessTerminal final : public tools::Terminal {
 public:
  ProcessTerminal() = default;
  ~ProcessTerminal() override { Leave(); }
  ProcessTerminal(const ProcessTerminal&) = delete;
  ProcessTerminal& operator=(const ProcessTerminal&) = delete;

  Size GetSize() const override;
  void Enter() override;
  void Leave() override;
  std::optional<char> WaitForKey(std::chrono::milliseconds time) override;

 private:
  bool entered_ = false;
  bool has_keys_ = false;  // whether stdin is a terminal, whose settings are `before_`
  termios before_{};
};

}  // namespace nereid::app
