// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/log_stream.h"
#include "base/status.h"

// The destinations of the log, for the code that starts and ends the process.

namespace nereid::base {

/// Returns the stream through which the log writes to stdout (stderr), for text that is not a log
/// line. If both are the same file, the two functions return the same stream, so that waiting lines
/// keep their order.
LogStream& StandardOutput();
LogStream& StandardErrors();

/// Opens the path of the log file again, as log rotation needs. Does nothing without a log file.
Status ReopenLogFile();

/// Waits until all written lines have been passed to the system, for at most a few seconds, and
/// less when a reader stops reading. Returns whether all have been. Called before the process ends.
bool FlushLog();

}  // namespace nereid::base
