// SPDX-License-Identifier: Apache-2.0
#include "server/server_settings.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/log.h"
#include "base/parse_number.h"

namespace nereid::server {
namespace {

constexpr std::string_view kLoadLimit = "model-load-gpu-limit-device-";

}  // namespace

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

void SetGpuLoadLimit(ServerSettings& settings, int gpu, double fraction) {
  settings.backend_config[""].emplace_back(std::string(kLoadLimit) + std::to_string(gpu),
                                           std::to_string(fraction));
}

base::Result<std::map<int, double>> GpuLoadLimitsOf(const ServerSettings& settings) {
  std::map<int, double> limits;
  const auto all = settings.backend_config.find("");
  if (all == settings.backend_config.end()) return limits;
  for (const auto& [setting, value] : all->second) {
    if (!setting.starts_with(kLoadLimit)) continue;
    const auto gpu = base::ParseWhole<int>(std::string_view(setting).substr(kLoadLimit.size()));
    const auto fraction = base::ParseWhole<double>(value);
    if (!gpu || *gpu < 0 || !fraction || !(*fraction >= 0 && *fraction <= 1)) {
      return base::Status::InvalidArgument(
          "the backend setting '" + setting + "=" + value + "' is no limit of a GPU: expected " +
          std::string(kLoadLimit) + "<number of the GPU>=<fraction from 0 to 1>");
    }
    limits[*gpu] = *fraction;
  }
  return limits;
}

namespace {

std::vector<double> ReadQuantiles(const std::string& text) {
  std::vector<double> quantiles;
  std::istringstream pairs(text);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    const size_t colon = pair.find(':');
    const auto quantile = base::ParseWhole<double>(std::string_view(pair).substr(0, colon));
    const auto error = colon == std::string::npos
                           ? std::nullopt
                           : base::ParseWhole<double>(std::string_view(pair).substr(colon + 1));
    if (quantile && error && *quantile >= 0 && *quantile <= 1) {
      const bool is_known =
          std::find(quantiles.begin(), quantiles.end(), *quantile) != quantiles.end();
      if (!is_known) quantiles.push_back(*quantile);
    } else {
      LOG_ERROR << "summary_quantiles: '" << pair
                << "' is left out, expected <quantile>:<error> with a quantile from 0 to 1";
    }
  }
  return quantiles;
}

}  // namespace

std::vector<double> SummaryQuantiles(const ServerSettings& settings) {
  std::vector<double> quantiles = {0.5, 0.9, 0.95, 0.99, 0.999};
  const auto group = settings.metrics_config.find("");
  if (group == settings.metrics_config.end()) return quantiles;
  for (const auto& [setting, value] : group->second) {
    if (setting != "summary_quantiles") continue;
    auto read = ReadQuantiles(value);
    if (!read.empty()) quantiles = std::move(read);
  }
  return quantiles;
}

}  // namespace nereid::server
