// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/options/server_options.h"
#include "base/status.h"

namespace nereid::app {

/// Gives the log of the process these settings. Returns an error if the file cannot be opened.
base::Status ConfigureLog(const LogOptions& options);

}  // namespace nereid::app
