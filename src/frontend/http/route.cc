// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/route.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "api/version_text.h"

namespace nereid::frontend::http {
namespace {

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns the operation on a model that `word` names, and for "trace" the segment after it.
Endpoint ModelEndpoint(std::string_view word, PathSegments* segments) {
  if (word == "infer") return Endpoint::kInfer;
  if (word == "trace") {
    return segments->Take() == "setting" ? Endpoint::kTraceSetting : Endpoint::kUnknown;
  }
  if (word == "ready") return Endpoint::kModelReady;
  if (word == "config") return Endpoint::kModelConfig;
  if (word == "stats") return Endpoint::kStatistics;
  if (word == "openapi.json") return Endpoint::kModelOpenApi;
  if (word == "sequences") return Endpoint::kSequences;
  if (word == "generate") return Endpoint::kGenerate;
  if (word == "generate_stream") return Endpoint::kGenerateStream;
  return Endpoint::kUnknown;
}

// Parses /models/stats and /models/M[/versions/V][/OPERATION]. "/models/stats" is the statistics of
// all models, even if a model has the name "stats": Triton's order.
void FindModelRoute(PathSegments segments, Route* route) {
  const std::string_view model = segments.Take();
  if (model == "stats" && segments.done()) {
    route->endpoint = Endpoint::kStatistics;
    return;
  }
  route->model = model;
  if (model.empty()) return;
  bool is_metadata = segments.done();
  std::string_view word = segments.Take();
  if (word == "versions") {
    const std::string_view version = segments.Take();
    if (!IsDigits(version) && !api::IsVersionLabel(version)) return;
    route->version = version;
    is_metadata = segments.done();
    word = segments.Take();
  }
  const Endpoint endpoint = is_metadata ? Endpoint::kModelMetadata : ModelEndpoint(word, &segments);
  const bool is_versioned_trace = endpoint == Endpoint::kTraceSetting && !route->version.empty();
  if (segments.done() && !is_versioned_trace) route->endpoint = endpoint;
}

// Parses the rest of /repository[/R]/index and /repository[/R]/models/M/(load|unload|rollout),
// behind the optional R. Returns whether it is one of these.
bool FindRepositoryRoute(PathSegments segments, Route* route) {
  const std::string_view word = segments.Take();
  if (word == "index" && segments.done()) {
    route->endpoint = Endpoint::kRepositoryIndex;
    return true;
  }
  if (word != "models") return false;
  const std::string_view model = segments.Take();
  const std::string_view action = segments.Take();
  if (model.empty() || !segments.done()) return false;
  if (action == "load") {
    route->endpoint = Endpoint::kModelLoad;
  } else if (action == "unload") {
    route->endpoint = Endpoint::kModelUnload;
  } else if (action == "rollout") {
    route->endpoint = Endpoint::kRollout;
  } else {
    return false;
  }
  route->model = model;
  return true;
}

// Parses the rest of /systemsharedmemory[/region/N]/(status|register|unregister), or of
// /cudasharedmemory.
void FindSharedMemoryRoute(PathSegments segments, bool is_cuda, Route* route) {
  std::string_view region;
  if (segments.TakeWord("region")) {
    region = segments.Take();
    if (region.empty()) return;
  }
  const std::string_view action = segments.Take();
  if (!segments.done()) return;
  if (action == "status") {
    route->endpoint = Endpoint::kSharedMemoryStatus;
  } else if (action == "register") {
    route->endpoint = Endpoint::kSharedMemoryRegister;
  } else if (action == "unregister") {
    route->endpoint = Endpoint::kSharedMemoryUnregister;
  } else {
    return;
  }
  route->region = region;
  route->is_cuda = is_cuda;
}

/// Parses / and /v1/models/M, the paths that KServe's older protocol has for health.
Route V1Route(const PathView& path) {
  Route route;
  if (path.text() == "/") route.endpoint = Endpoint::kV1Live;
  PathSegments segments(path);
  if (!segments.TakeWord("v1") || !segments.TakeWord("models")) return route;
  const std::string_view model = segments.Take();
  if (model.empty() || !segments.done()) return route;
  route.model = model;
  route.endpoint = Endpoint::kV1ModelReady;
  return route;
}
using api::Operation;
constexpr std::nullopt_t kWrongMethod = std::nullopt;

// In the order of Endpoint.
constexpr EndpointSpec kEndpoints[] = {
    // clang-format off
    {Endpoint::kServerMetadata, "/v2", Operation::kServerMetadata, kWrongMethod},
    {Endpoint::kServerOpenApi, "/v2/openapi.json", Operation::kServerMetadata, kWrongMethod},
    {Endpoint::kServerLive, "/v2/health/live", Operation::kServerLive, kWrongMethod, true, kWrongMethod, Operation::kLivenessReasons},
    {Endpoint::kServerReady, "/v2/health/ready", Operation::kServerReady, kWrongMethod, true, kWrongMethod, Operation::kHealthReasons},
    {Endpoint::kV1Live, "/", Operation::kServerLive, kWrongMethod},
    {Endpoint::kV1ModelReady, "/v1/models/{model}", Operation::kModelReady, kWrongMethod},
    {Endpoint::kDrain, "/v2/drain", Operation::kDrainRead, Operation::kDrainChange, false, Operation::kDrainChange},
    {Endpoint::kSequenceClaim, "/v2/sequences/claim", kWrongMethod, Operation::kSequenceHandover, true},
    {Endpoint::kSequenceSettle, "/v2/sequences/settle", kWrongMethod, Operation::kSequenceHandover, true},
    {Endpoint::kSequenceOffer, "/v2/sequences/offer", kWrongMethod, Operation::kSequenceHandover, true},
    {Endpoint::kModelMetadata, "/v2/models/{model}[/versions/{version}]", Operation::kModelMetadata, kWrongMethod},
    {Endpoint::kModelOpenApi, "/v2/models/{model}[/versions/{version}]/openapi.json", Operation::kModelMetadata, kWrongMethod},
    {Endpoint::kModelReady, "/v2/models/{model}[/versions/{version}]/ready", Operation::kModelReady, kWrongMethod, true, kWrongMethod, Operation::kHealthReasons},
    {Endpoint::kModelConfig, "/v2/models/{model}[/versions/{version}]/config", Operation::kModelConfig, kWrongMethod},
    {Endpoint::kStatistics, "/v2/models[/{model}[/versions/{version}]]/stats", Operation::kStatistics, kWrongMethod},
    {Endpoint::kSequences, "/v2/models/{model}[/versions/{version}]/sequences", Operation::kSequences, kWrongMethod},
    {Endpoint::kInfer, "/v2/models/{model}[/versions/{version}]/infer", kWrongMethod, Operation::kInfer, true},
    {Endpoint::kGenerate, "/v2/models/{model}[/versions/{version}]/generate", kWrongMethod, Operation::kInfer},
    {Endpoint::kGenerateStream, "/v2/models/{model}[/versions/{version}]/generate_stream", kWrongMethod, Operation::kInfer},
    {Endpoint::kTraceSetting, "/v2[/models/{model}]/trace/setting", Operation::kTraceRead, Operation::kTraceChange},
    {Endpoint::kLogging, "/v2/logging", Operation::kLogRead, Operation::kLogChange},
    {Endpoint::kRepositoryIndex, "/v2/repository[/{repository}]/index", kWrongMethod, Operation::kRepositoryIndex},
    {Endpoint::kModelLoad, "/v2/repository[/{repository}]/models/{model}/load", Operation::kLoadRead, Operation::kModelLoad, false, Operation::kLoadCancel},
    {Endpoint::kModelUnload, "/v2/repository[/{repository}]/models/{model}/unload", kWrongMethod, Operation::kModelUnload},
    {Endpoint::kRollout, "/v2/repository[/{repository}]/models/{model}/rollout", Operation::kRolloutRead, kWrongMethod, false, Operation::kRolloutChange, std::nullopt, Operation::kRolloutChange},
    {Endpoint::kSharedMemoryStatus, "/v2/(system|cuda)sharedmemory[/region/{region}]/status", Operation::kSharedMemoryStatus, kWrongMethod},
    {Endpoint::kSharedMemoryRegister, "/v2/(system|cuda)sharedmemory[/region/{region}]/register", kWrongMethod, Operation::kSharedMemoryRegister},
    {Endpoint::kSharedMemoryUnregister, "/v2/(system|cuda)sharedmemory[/region/{region}]/unregister", kWrongMethod, Operation::kSharedMemoryUnregister},
    // clang-format on
};

consteval bool EveryEndpointIsSpecified() {
  if (std::size(kEndpoints) != static_cast<size_t>(kLastEndpoint)) return false;
  for (size_t i = 0; i < std::size(kEndpoints); ++i) {
    if (kEndpoints[i].endpoint != static_cast<Endpoint>(i + 1)) return false;
    if (!kEndpoints[i].get && !kEndpoints[i].post) return false;
  }
  return true;
}
static_assert(EveryEndpointIsSpecified(), "an endpoint lacks its methods and operations");

}  // namespace

std::string AllowField(const EndpointSpec& spec) {
  std::vector<Method> methods;
  for (const Method method :
       {Method::kGet, Method::kHead, Method::kPost, Method::kPut, Method::kDelete}) {
    if (spec.Accepts(method)) methods.push_back(method);
  }
  return AllowField(methods);
}

std::span<const EndpointSpec> AllEndpoints() { return kEndpoints; }

const EndpointSpec& SpecOf(Endpoint endpoint) {
  return kEndpoints[static_cast<size_t>(endpoint) - 1];
}

Route FindRoute(const PathView& path) {
  PathSegments segments(path);
  if (!segments.TakeWord("v2")) return V1Route(path);
  Route route;
  if (segments.done()) {
    route.endpoint = Endpoint::kServerMetadata;
    return route;
  }
  const std::string_view word = segments.Take();
  if (word == "models") {
    FindModelRoute(segments, &route);
  } else if (word == "health") {
    const std::string_view check = segments.Take();
    if (check == "live" && segments.done()) route.endpoint = Endpoint::kServerLive;
    if (check == "ready" && segments.done()) route.endpoint = Endpoint::kServerReady;
  } else if (word == "repository") {
    if (!FindRepositoryRoute(segments, &route)) {
      const std::string_view repository = segments.Take();
      if (!repository.empty() && FindRepositoryRoute(segments, &route)) {
        route.repository = repository;
      }
    }
  } else if (word == "openapi.json" && segments.done()) {
    route.endpoint = Endpoint::kServerOpenApi;
  } else if (word == "drain" && segments.done()) {
    route.endpoint = Endpoint::kDrain;
  } else if (word == "sequences") {
    const std::string_view action = segments.Take();
    if (!segments.done()) return route;
    if (action == "claim") route.endpoint = Endpoint::kSequenceClaim;
    if (action == "settle") route.endpoint = Endpoint::kSequenceSettle;
    if (action == "offer") route.endpoint = Endpoint::kSequenceOffer;
  } else if (word == "logging" && segments.done()) {
    route.endpoint = Endpoint::kLogging;
  } else if (word == "trace" && segments.Take() == "setting" && segments.done()) {
    route.endpoint = Endpoint::kTraceSetting;
  } else if (word == "systemsharedmemory") {
    FindSharedMemoryRoute(segments, false, &route);
  } else if (word == "cudasharedmemory") {
    FindSharedMemoryRoute(segments, true, &route);
  }
  return route;
}

}  // namespace nereid::frontend::http
