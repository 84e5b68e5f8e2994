// SPDX-License-Identifier: Apache-2.0
#include "console/console_route.h"

#include <iterator>

namespace nereid::console {
namespace {

using api::Operation;
using Endpoint = ConsoleEndpoint;

// In the order of ConsoleEndpoint.
constexpr ConsoleRoute kRoutes[] = {
    {Endpoint::kPage, "/[console/files/{file}]", Operation::kConsolePage},
    {Endpoint::kSession, "/console/v1/session", Operation::kServerMetadata},
    {Endpoint::kSeries, "/console/v1/series", Operation::kStatistics},
    {Endpoint::kEvents, "/console/v1/events", Operation::kStatistics},
    {Endpoint::kModelSeries, "/console/v1/models/{model}/series", Operation::kStatistics},
    {Endpoint::kModelState, "/console/v1/models/{model}/state", Operation::kStatistics},
    {Endpoint::kExplain, "/console/v1/models/{model}/explain", Operation::kModelConfig},
    {Endpoint::kLog, "/console/v1/log", Operation::kLogRead},
    {Endpoint::kLogEvents, "/console/v1/log/events", Operation::kLogRead},
    {Endpoint::kTraces, "/console/v1/traces", Operation::kTraceRead},
    {Endpoint::kTrace, "/console/v1/traces/{trace}", Operation::kTraceRead},
};

consteval bool EveryEndpointHasARoute() {
  if (std::size(kRoutes) != static_cast<size_t>(Endpoint::kTrace)) return false;
  for (size_t i = 0; i < std::size(kRoutes); ++i) {
    if (kRoutes[i].endpoint != static_cast<Endpoint>(i + 1)) return false;
  }
  return true;
}
static_assert(EveryEndpointHasARoute(), "an endpoint of the console lacks its operation");

/// Removes `prefix` from the front of `path`. Returns whether it was there.
bool Take(std::string_view prefix, std::string_view* path) {
  if (!path->starts_with(prefix)) return false;
  path->remove_prefix(prefix.size());
  return true;
}

/// Removes `suffix` from the end of `path`. Returns whether it was there.
bool TakeEnd(std::string_view suffix, std::string_view* path) {
  if (!path->ends_with(suffix)) return false;
  path->remove_suffix(suffix.size());
  return true;
}

bool IsSegment(std::string_view text) {
  return !text.empty() && text.find('/') == std::string_view::npos;
}

ConsolePath FindModelPath(std::string_view rest) {
  ConsolePath found;
  if (TakeEnd("/series", &rest)) {
    found.endpoint = Endpoint::kModelSeries;
  } else if (TakeEnd("/state", &rest)) {
    found.endpoint = Endpoint::kModelState;
  } else if (TakeEnd("/explain", &rest)) {
    found.endpoint = Endpoint::kExplain;
  }
  if (!IsSegment(rest)) return {};
  found.name = rest;
  return found;
}

}  // namespace

std::span<const ConsoleRoute> AllConsoleRoutes() { return kRoutes; }

const ConsoleRoute& RouteOf(ConsoleEndpoint endpoint) {
  return kRoutes[static_cast<size_t>(endpoint) - 1];
}

ConsolePath FindConsolePath(std::string_view path) {
  if (path == "/") return {Endpoint::kPage, "index.html"};
  if (Take("/console/files/", &path)) return {Endpoint::kPage, path};
  if (!Take("/console/v1/", &path)) return {};
  if (path == "session") return {Endpoint::kSession, {}};
  if (path == "series") return {Endpoint::kSeries, {}};
  if (path == "events") return {Endpoint::kEvents, {}};
  if (path == "log") return {Endpoint::kLog, {}};
  if (path == "log/events") return {Endpoint::kLogEvents, {}};
  if (path == "traces") return {Endpoint::kTraces, {}};
  if (Take("models/", &path)) return FindModelPath(path);
  if (Take("traces/", &path) && IsSegment(path)) return {Endpoint::kTrace, path};
  return {};
}

}  // namespace nereid::console
