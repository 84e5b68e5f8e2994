// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/options/server_options.h"
#include "server/server_settings.h"

namespace nereid::app {

/// What the engine needs of the command line.
server::ServerSettings ServerSettingsFrom(const ServerOptions& options);

}  // namespace nereid::app
