// SPDX-License-Identifier: Apache-2.0
#include "console/console_route.h"

#include <iterator>

namespace nereid::console {
namespace {

namespace http = frontend::http;

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

/// Finds the endpoint of a model's document.
ConsolePath FindModelPath(http::PathSegments segments) {
  const std::string_view model = segments.Take();
  const std::string_view document = segments.Take();
  if (model.empty() || !segments.done()) return {};
  if (document == "series") return {Endpoint::kModelSeries, model};
  if (document == "state") return {Endpoint::kModelState, model};
  if (document == "explain") return {Endpoint::kExplain, model};
  return {};
}

/// Finds the endpoint of a path below /console/v1.
ConsolePath FindDocumentPath(http::PathSegments segments) {
  const std::string_view word = segments.Take();
  if (word == "models") return FindModelPath(segments);
  if (segments.done()) {
    if (word == "session") return {Endpoint::kSession, {}};
    if (word == "series") return {Endpoint::kSeries, {}};
    if (word == "events") return {Endpoint::kEvents, {}};
    if (word == "log") return {Endpoint::kLog, {}};
    if (word == "traces") return {Endpoint::kTraces, {}};
    return {};
  }
  const std::string_view part = segments.Take();
  if (part.empty() || !segments.done()) return {};
  if (word == "log" && part == "events") return {Endpoint::kLogEvents, {}};
  if (word == "traces") return {Endpoint::kTrace, part};
  return {};
}

}  // namespace

std::span<const ConsoleRoute> AllConsoleRoutes() { return kRoutes; }

const ConsoleRoute& RouteOf(ConsoleEndpoint endpoint) {
  return kRoutes[static_cast<size_t>(endpoint) - 1];
}

ConsolePath FindConsolePath(const http::PathView& path) {
  if (path.text() == "/") return {Endpoint::kPage, "index.html"};
  http::PathSegments segments(path);
  if (!segments.TakeWord("console")) return {};
  if (segments.TakeWord("v1")) return FindDocumentPath(segments);
  if (!segments.TakeWord("files")) return {};
  const std::string_view file = segments.Take();
  return file.empty() || !segments.done() ? ConsolePath() : ConsolePath{Endpoint::kPage, file};
}

}  // namespace nereid::console
