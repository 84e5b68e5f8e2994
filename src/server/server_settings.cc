// SPDX-License-Identifier: Apache-2.0
#include "server/server_settings.h"

namespace nereid::server {

bool MetricsSwitch(const ServerSettings& settings, const std::string& name, bool otherwise) {
  const auto group = settings.metrics_config.find("");
  if (group == settings.metrics_config.end()) return otherwise;
  bool on = otherwise;
  for (const auto& [setting, value] : group->second) {
    if (setting != name) continue;
    on = value == "true" || (otherwise && value != "false");
  }
  return on;
}

}  // namespace nereid::server
