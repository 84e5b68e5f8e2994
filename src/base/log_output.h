// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/log_stream.h"
#include "base/status.h"

// Where the log's lines go, for those who start and end the process.

namespace nereid::base {

/// The standard streams as the log writes to them, for what is no line of the log. Where both are
/// the same file they are one stream, so that lines which wait keep their order.
LogStream& StandardOutput();
LogStream& StandardErrors();

/// Opens the log file's path anew, where another file may be by now; nothing without a log file.
Status ReopenLogFile();

/// Waits until all that was written is out, as long as its readers read, and at most a few seconds.
/// Whether all is. Before the process ends.
bool FlushLog();

}  // namespace nereid::base
