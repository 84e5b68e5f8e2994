// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "app/tools/tool.h"
#include "app/tools/tool_flags.h"
#include "base/clock.h"
#include "base/duration.h"
#include "base/result.h"

namespace nereid::app::tools {

/// The exit code of a tool that waited for --timeout.
inline constexpr int kStillWaiting = 3;

/// How long a tool waits.
class WaitLimit {
 public:
  /// Reads --timeout, in seconds, and counts from now. Returns INVALID_ARGUMENT for another text
  /// than a number up to 2^32.
  static base::Result<WaitLimit> From(const ToolArguments& arguments, uint32_t default_seconds,
                                      const ToolContext& context);

  bool IsOver() const {
    return seconds_ != 0 && clock_->NowNs() - begin_ns_ >= base::Duration::Seconds(seconds_).ns();
  }
  /// Returns "5 s".
  std::string Text() const { return std::to_string(seconds_) + " s"; }

 private:
  WaitLimit(uint32_t seconds, const base::Clock& clock)
      : seconds_(seconds), clock_(&clock), begin_ns_(clock.NowNs()) {}

  uint32_t seconds_;  // 0: without a limit
  const base::Clock* clock_;
  uint64_t begin_ns_;
};

/// Returns the only word of a command line, the name of a model. INVALID_ARGUMENT if there is not
/// exactly one, or if it cannot be a part of a path.
base::Result<std::string> ModelOf(const ToolArguments& arguments);

}  // namespace nereid::app::tools
