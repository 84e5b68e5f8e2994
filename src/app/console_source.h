// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "console/console_source.h"

namespace nereid::server {
class InferenceServer;
}

namespace nereid::app {

/// Returns what the console knows of a server, which must outlive the result. `config_name` is that
/// of --model-config-name.
console::ConsoleSource ConsoleSourceFrom(server::InferenceServer& server, std::string config_name);

}  // namespace nereid::app
