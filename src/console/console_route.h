// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

#include "api/access/operation.h"
#include "frontend/http/request_path.h"

namespace nereid::console {

/// What the console's port serves beside the paths of the HTTP port that begin with /v2.
enum class ConsoleEndpoint {
  kUnknown,
  kPage,         // a file of the page
  kSession,      // who the caller is to the server
  kSeries,       // the recent numbers of all models
  kEvents,       // the numbers as they come, server-sent events
  kModelSeries,  // the numbers of one model
  kModelState,   // what its counters and queues say
  kExplain,      // its configuration with the origin of each value
  kLog,          // the last lines of the log
  kLogEvents,    // the lines as they come, server-sent events
  kTraces,       // the requests that were traced through the console
  kTrace,        // the spans of one of them
};

/// A method and a path with the operation that decides who may call it. Every path has the method
/// GET alone, so that nothing here changes the server.
struct ConsoleRoute {
  ConsoleEndpoint endpoint;
  /// The path, with {names} for the parts that a client chooses.
  std::string_view form;
  api::Operation operation;
};

/// The endpoint of a path, and the part of it that the client chooses: a model or a trace, or
/// the name of a file.
struct ConsolePath {
  ConsoleEndpoint endpoint = ConsoleEndpoint::kUnknown;
  std::string_view name;
};

/// Returns all routes.
std::span<const ConsoleRoute> AllConsoleRoutes();

/// Returns the route of an endpoint, which is not kUnknown.
const ConsoleRoute& RouteOf(ConsoleEndpoint endpoint);

/// Finds the endpoint of a path without its query. "/" is the page's first file, and every other
/// path that is not below /console/ is kUnknown.
ConsolePath FindConsolePath(const frontend::http::PathView& path);

}  // namespace nereid::console
