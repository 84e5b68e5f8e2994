// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/options/server_options.h"
#include "server/server_settings.h"

namespace nereid::app {

/// Returns the settings of the engine that the command line implies.
server::ServerSettings ServerSettingsFrom(const ServerOptions& options);

}  // namespace nereid::app
